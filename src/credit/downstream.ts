import { type CreditEstimator, type DecisionId, type TrajectoryId, upstreamOf } from '../core/index.ts'
import { readsTimesAs } from './reads-times.ts'

/**
 * Follows the graph: an attempt's credit flows back from its outcome along `inputs`, to the decisions that the outcome was
 * built from. What the outcome does not descend from gets none: a parallel branch whose answer nobody used, a first try
 * that was thrown away. How much there is to give, `outcome` says.
 *
 * In a stochastic computation graph, the gradient of a node's log-probability is multiplied by the costs *downstream* of
 * it, and by no others (Schulman et al. 2015, "Gradient Estimation Using Stochastic Computation Graphs", theorem 1): what
 * a decision could not influence is noise in its credit, and leaving it out costs no bias.
 *
 * What it assumes: that the recorded links are all there are. A text that is passed on as a message, a copy or a quotation
 * leaves one by itself; what a program computes from an answer, or decides by it, only where it is told (`from`). What
 * leaves no message, such as a choice or a text that is read as a string, counts for all that comes after it, and always
 * for the outcome. A reward that charges for the work itself (an effort per call) falls on what was used alone. Where it is
 * not known what the outcome was built from (older records, traffic, a budget that was spent, a text that takes too long to
 * trace), all that was recorded counts.
 */
export function downstream({ outcome }: { readonly outcome: CreditEstimator }): CreditEstimator {
  return {
    name: `downstream(${outcome.name})`,
    ...readsTimesAs(outcome),
    async credit(groups, context) {
      const { credits, counts } = await outcome.credit(groups, context)
      const used = new Map<TrajectoryId, ReadonlySet<DecisionId>>()
      for (const { trajectory } of groups.flatMap(({ attempts }) => attempts)) {
        if (trajectory.outcome) used.set(trajectory.id, upstreamOf(trajectory.outcome.inputs, trajectory))
      }
      const kept = credits.filter(({ trajectory, decision }) => used.get(trajectory)?.has(decision) ?? true)
      return { credits: kept, counts: { ...counts, unused: credits.length - kept.length } }
    },
  }
}
