import { z } from 'zod'
import { ClientName, Signal, sha256, type Tenant, TrajectoryId } from '../core/index.ts'

/** What became of a pull request that an agent made (Li et al., "AIDev", 2025): one record of a list of reviews. */
export const PullRequestReview = z.strictObject({
  /** The episode that made it. */
  trajectory: TrajectoryId,
  /** Such as `org/repository#12`, or its URL. */
  pullRequest: z.string().min(1).max(1_024),
  outcome: z.enum(['accepted', 'rejected']),
  /** When it was reviewed: ISO 8601 with its zone, or milliseconds since the epoch. */
  at: z.union([z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)), z.number().nonnegative()]),
  /** Who reviewed it. */
  reviewer: ClientName.max(200).optional(),
})
export type PullRequestReview = z.infer<typeof PullRequestReview>

/** Where signals of reviews go. */
export interface ReviewedAs {
  readonly tenant: Tenant
  /** Their name. */
  readonly name: string
}

/**
 * A review as a signal with the source `outcome`: `true` for accepted. The same review is the same signal, however often it
 * is read; a later one of the same reviewer is another, and the last counts.
 */
export function reviewSignal(review: PullRequestReview, { tenant, name }: ReviewedAs): Signal {
  const { trajectory, pullRequest, outcome, at, reviewer } = review
  return Signal.parse({
    tenant,
    key: `review:${sha256(JSON.stringify([trajectory, pullRequest, outcome, at, reviewer ?? null, name]))}`,
    trajectory,
    node: null,
    source: 'outcome',
    reporter: reviewer === undefined ? 'reviews' : `reviews:${reviewer}`,
    name,
    value: outcome === 'accepted',
    at,
  })
}
