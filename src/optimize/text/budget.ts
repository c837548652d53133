import { requireWhole, TextError } from './text-error.ts'

/** Proposals that a budget must afford: with fewer, what is found is luck (GEPA's own floor, Agrawal et al. 2025). */
export const leastProposals = 3

/** What learning a text costs, in episodes attempted. */
export interface Costs {
  /** Before the first proposal. */
  readonly start: number
  /** One proposal, at most. */
  readonly proposal: number
}

/** The smallest budget that is worth anything. */
export const floorOf = ({ start, proposal }: Costs): number => start + leastProposals * proposal

/**
 * How many proposals a budget affords, at least.
 * @param evaluations episodes that may be attempted.
 * @throws TextError (`text/small-budget`) below the floor, with the budget that is needed.
 */
export function affordable(evaluations: number, costs: Costs): number {
  requireWhole('evaluations', evaluations, 1)
  const floor = floorOf(costs)
  if (evaluations >= floor) return Math.floor((evaluations - costs.start) / costs.proposal)
  const affords = Math.max(0, Math.floor((evaluations - costs.start) / costs.proposal))
  throw new TextError({
    code: 'text/small-budget',
    message: `A budget of ${evaluations} evaluations affords ${affords} proposals: ${costs.start} are needed before the first, and up to ${costs.proposal} for each.`,
    hint: `Give at least ${floor} evaluations, or let fewer tasks measure a proposal.`,
  })
}
