import type { CreditEstimator } from '../core/index.ts'
import { CreditError } from './credit-error.ts'
import { mean, outcomeCredit } from './outcome.ts'

export interface MaxRlOptions {
  /** What an attempt earns that comes to nothing: rewards are measured from here, and none lies below. Default 0. */
  readonly floor?: number
}

/**
 * The distance from the group's mean, over that mean: Aᵢ = (Rᵢ − R̄)/(R̄ − floor).
 *
 * Maximum-likelihood reinforcement learning (MaxRL, 2026): over pass/fail rewards its gradient goes towards log p(success)
 * and not p(success), so that a success counts the more the rarer it is: one in K is worth K − 1.
 * @throws CreditError for a reward below the floor: the mean could come near it, and the division would blow up.
 */
export function maxRl({ floor = 0 }: MaxRlOptions = {}): CreditEstimator {
  return outcomeCredit('max-rl', (rewards) => {
    const below = rewards.find((reward) => reward < floor)
    if (below !== undefined) {
      throw new CreditError({
        code: 'credit/below-floor',
        message: `A reward is ${below}, and maxRl measures from ${floor}.`,
        hint: 'Pass the lowest value that the rubric gives: maxRl({ floor: reward.floor }).',
      })
    }
    const baseline = mean(rewards)
    return rewards.map((reward) => (reward - baseline) / (baseline - floor))
  })
}
