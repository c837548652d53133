import type { CreditEstimator } from '../../core/index.ts'
import { requireWithin } from '../option.ts'
import { mean } from '../outcome.ts'
import { allEqual, type StepAdvantages, stepCredit, type StepRewards } from './step-credit.ts'
import { returnsOf, type SteppedAttempt } from './steps.ts'

export interface DiscountedReturnOptions extends StepRewards {
  /** γ in [0, 1]: what a reward is worth one Step earlier. Default 0.95. */
  readonly discount?: number
}

/**
 * What was earned from a Step on, less what the other attempts earned from there on: Aᵢₜ = Gᵢₜ − mean(Gⱼₜ, j ≠ i), with
 * Gₜ = Σₖ₌ₜ γᵏ⁻ᵗ·rₖ. An attempt that is over by then counts with the return of its last Step.
 *
 * REINFORCE with the return from the action on and a baseline for each time (Williams 1992; Greensmith et al. 2004,
 * section 4). No baseline holds the attempt's own rewards, so the gradient of the discounted return is unbiased. With γ = 1
 * and no rewards of Steps it is `leaveOneOut`. With γ < 1 a way that takes longer is worth less, most of all at its start.
 */
export function discountedReturn({ discount = 0.95, stepRewards }: DiscountedReturnOptions = {}): CreditEstimator {
  requireWithin(discount, { estimator: 'discountedReturn', option: 'discount', least: 0, most: 1 })
  return stepCredit({
    name: 'discounted-return',
    fewest: 2,
    ...(stepRewards && { stepRewards }),
    advantages: (attempts) => discountedAdvantages(attempts, discount),
  })
}

/** {@link discountedReturn} of one group; `null` where all attempts earned the same from every Step on. */
export function discountedAdvantages(attempts: readonly SteppedAttempt[], discount: number): StepAdvantages | null {
  const returns = attempts.map(({ steps }) => returnsOf(steps, discount))
  const longest = Math.max(...returns.map(({ length }) => length))
  const at = (t: number) => returns.map((each) => each[Math.min(t, each.length - 1)] ?? null)
  const byTime = Array.from({ length: longest }, (_, t) => at(t))
  if (byTime.every(allEqual)) return null
  return returns.map((own, i) =>
    own.map((value, t) => {
      const others = (byTime[t] ?? []).filter((other, j): other is number => other !== null && j !== i)
      return value === null || others.length === 0 ? null : value - mean(others)
    }),
  )
}
