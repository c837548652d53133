import type { CreditEstimator } from '../core/index.ts'
import { deviation, mean, outcomeCredit } from './outcome.ts'
import { oneGroup } from './one-group.ts'

export interface BatchBaselineOptions {
  /** Divide by the batch's standard deviation (the population's), or leave the reward's unit. Default `deviation`. */
  readonly scale?: 'deviation' | 'none'
  /** Added to the deviation. Default 1e-6. */
  readonly epsilon?: number
}

/**
 * For groups of one, as traffic has them: the reward less the whole batch's mean, in standard deviations of the batch:
 * Aᵢ = (Rᵢ − R̄) / (σ + ε), over all attempts of all groups.
 *
 * The global advantage normalisation of REINFORCE++ (Hu et al. 2025). The baseline does not know the task: what a batch
 * of easy ones earns looks like merit. `valueBaseline` knows a little of it.
 */
export function batchBaseline({ scale = 'deviation', epsilon = 1e-6 }: BatchBaselineOptions = {}): CreditEstimator {
  const within = outcomeCredit('batch-baseline', (rewards) => {
    const baseline = mean(rewards)
    const unit = scale === 'none' ? 1 : deviation(rewards) + epsilon
    return rewards.map((reward) => (reward - baseline) / unit)
  })
  return { name: within.name, credit: (groups, context) => within.credit(oneGroup(groups), context) }
}
