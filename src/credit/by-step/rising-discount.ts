import type { CreditEstimator } from '../../core/index.ts'
import { requireWithin } from '../option.ts'
import { discountedAdvantages } from './discounted-return.ts'
import { stepCredit } from './step-credit.ts'
import type { SteppedAttempt } from './steps.ts'

export interface RisingDiscountOptions {
  /** α in (0, 1): what a reward counts that lies as many Steps ahead as are mastered. Default 0.2, as in the paper. */
  readonly horizonWeight?: number
  /** The share of a group's attempts that must have got through a Step for it to be mastered, in (0, 1]. Default 0.5. */
  readonly mastery?: number
  /** How many Steps, from the first on, an attempt got through. Default {@link earnedSteps}. */
  readonly progress?: (attempt: SteppedAttempt) => number
}

/**
 * `discountedReturn` with a discount that grows as earlier Steps are mastered: γ = α^(1/k), where k ≥ 1 is the number of
 * Steps that a share of the group's attempts got through. At first only what comes next counts; what is far ahead counts
 * when the way to it is known.
 *
 * Automatic discount scheduling (Liu et al. 2024, "Imitation Learning from Observation with Automatic Discount Scheduling",
 * section 4). The paper compares with an expert's episode; here rewards of Steps say how far an attempt came, so that
 * nothing is kept between batches and a run that resumes repeats. It is for environments that reward Steps: where there is
 * an outcome only, a small γ takes it from all early Steps.
 */
export function risingDiscount({
  horizonWeight = 0.2,
  mastery = 0.5,
  progress = earnedSteps,
}: RisingDiscountOptions = {}): CreditEstimator {
  const estimator = 'risingDiscount'
  requireWithin(horizonWeight, { estimator, option: 'horizonWeight', least: 1e-6, most: 1 - 1e-6 })
  requireWithin(mastery, { estimator, option: 'mastery', least: 1e-6, most: 1 })
  return stepCredit({
    name: 'rising-discount',
    fewest: 2,
    advantages: (attempts) => {
      const mastered = masteredSteps(attempts.map(progress), mastery)
      return discountedAdvantages(attempts, horizonWeight ** (1 / Math.max(1, mastered)))
    },
  })
}

/** Steps up to the last one that earned something above 0, the outcome included. */
export function earnedSteps({ steps }: SteppedAttempt): number {
  return steps.findLastIndex(({ reward }) => reward !== null && reward > 0) + 1
}

/** The largest number of Steps that at least such a share got through. */
function masteredSteps(progress: readonly number[], share: number): number {
  const furthestFirst = progress.toSorted((a, b) => b - a)
  return furthestFirst[Math.ceil(share * progress.length) - 1] ?? 0
}
