import type { Credit, CreditContext, CreditEstimator, DecisionId, Group, TrajectoryId } from '../../core/index.ts'
import { readsTimesAs } from '../reads-times.ts'

/** The weight of a Decision's credit, above 0; `null` where it is not known. */
export type WeightOf = (trajectory: TrajectoryId, decision: DecisionId, advantage: number) => number | null

/**
 * Multiplies what an estimator gives by weights that are never negative: no sign turns, and what was vetoed stays below 0.
 * A weight that is not known is 1, and is counted.
 */
export function weighted(
  name: string,
  outcome: CreditEstimator,
  weights: (groups: readonly Group[], context: CreditContext) => Promise<WeightOf> | WeightOf,
): CreditEstimator {
  return {
    name: `${name}(${outcome.name})`,
    ...readsTimesAs(outcome),
    async credit(groups, context) {
      const { credits, counts } = await outcome.credit(groups, context)
      const weightOf = await weights(groups, context)
      let unweighted = 0
      const reweighted = credits.map((credit): Credit => {
        const { trajectory, decision, advantage } = credit
        if (advantage === null) return credit
        const weight = weightOf(trajectory, decision, advantage)
        if (weight === null) unweighted++
        return { ...credit, advantage: advantage * (weight ?? 1) }
      })
      return { credits: reweighted, counts: { ...counts, unweighted } }
    },
  }
}
