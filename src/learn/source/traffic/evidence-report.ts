import { z } from 'zod'

/**
 * Why trajectories are no fresh evidence for the policy gradient. Each is counted once, by the first that holds:
 * - `corrupt-record`: the store cannot read it.
 * - `train-forbidden`: its client forbids learning from it. `held-out`: it judges, and is not learned from.
 * - `unsettled`: it is not quiet for long enough; a later run sees it.
 * - `used`: an earlier run learned from it.
 * - `over-limit`: the source's limit was reached; older ones are left out.
 * - `over-share`: its person has more sessions than one may decide, of all or, after all other reasons, of those that are
 *   fresh.
 * - `not-served`: the Parameter that learns decided nothing in it. `candidate-arm`: a canary's candidate did, which never
 *   served. `stale`: the weights that sampled are older than allowed, or nobody's that ever served.
 * - `other-context`: another Version of something else acted in it (a prompt, a tool's description) than serves now: what
 *   people showed in it is learned all the same.
 * - `missing-reward`: what came of it is not known (invariant 1).
 * - `repeated`, `truncated`, `greedy`, `no-logprobs`, `other-temperature`, `unreadable`: see `Unfit`.
 */
export const DropReason = z.enum([
  'corrupt-record',
  'over-limit',
  'train-forbidden',
  'held-out',
  'unsettled',
  'used',
  'over-share',
  'not-served',
  'candidate-arm',
  'stale',
  'other-context',
  'missing-reward',
  'no-logprobs',
  'truncated',
  'greedy',
  'repeated',
  'other-temperature',
  'unreadable',
])
export type DropReason = z.infer<typeof DropReason>

const count = z.int().nonnegative()

const OfLearner = z.strictObject({
  sessions: count,
  credited: count,
  dropped: z.partialRecord(DropReason, count).default({}),
})

/** What was gathered from traffic, and what was left out. */
export const EvidenceReport = z.strictObject({
  /** Milliseconds since the epoch: what was said later is not seen. */
  asOf: z.number(),
  /** Trajectories in the window, and those of them that are fresh evidence. */
  seen: count,
  sessions: count,
  /** Decisions of theirs that carry an advantage. */
  credited: count,
  demonstrations: count,
  pairs: count,
  /** Demonstrations that are not imitated, as they call tools that their turn was not offered. */
  unknownTools: count.default(0),
  dropped: z.partialRecord(DropReason, count),
  /** Signals that were left out, as their reporters said more than their share. */
  flood: count,
  /** Of the fresh evidence: what it earned on average, and how many a guard vetoed (they stay in the baseline). */
  meanReward: z.number().nullable(),
  vetoed: count,
  /** The same by the guard that did, by its name. */
  vetoedBy: z.record(z.string(), count).default({}),
  /** Seconds since the end of the fresh sessions, and how many activations ago their weights served, by lag. */
  age: z.strictObject({ newest: z.number(), median: z.number(), oldest: z.number() }).nullable(),
  lags: z.record(z.string(), count),
  /**
   * Of each Parameter that learns beside the weights of one, or without any; of all where several learn weights: its fresh
   * sessions, its credited decisions, and what was left out for it.
   */
  learners: z.record(z.string(), OfLearner).exactOptional(),
  /** What signals' worth was multiplied by, where an audit's labels said so. */
  factors: z.record(z.string(), z.number()).exactOptional(),
  /** Trajectories of which labels of audits say what is true, which is what they earned. */
  labelled: count.exactOptional(),
})
export type EvidenceReport = z.infer<typeof EvidenceReport>

/** What a run has gathered that learns nothing. @param asOf milliseconds since the epoch. */
export const nothingGathered = (asOf: number): EvidenceReport => ({
  asOf,
  seen: 0,
  sessions: 0,
  credited: 0,
  demonstrations: 0,
  pairs: 0,
  unknownTools: 0,
  dropped: {},
  flood: 0,
  meanReward: null,
  vetoed: 0,
  vetoedBy: {},
  age: null,
  lags: {},
})
