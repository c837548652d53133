import type { CreditEstimator, Trajectory } from '../core/index.ts'
import { foretoldByOthers } from './folds.ts'
import { hashedWords } from './hashed-words.ts'
import { oneGroup } from './one-group.ts'
import { attemptCredit, deviation } from './outcome.ts'

export interface ValueBaselineOptions {
  /** What the value hangs on: numbers that were known before the policy first acted. Default {@link taskFeatures}. */
  readonly features?: (trajectory: Trajectory) => readonly number[]
  /** Ridge penalty λ > 0: the more, the nearer to the mean of the batch. Default 1. */
  readonly lambda?: number
  /** Parts that the batch is cut into; each is predicted from the others. Default 5, at least 2. */
  readonly folds?: number
  /** Divide by the standard deviation of all advantages, or leave the reward's unit. Default `deviation`. */
  readonly scale?: 'deviation' | 'none'
  /** Added to the deviation. Default 1e-6. */
  readonly epsilon?: number
}

/**
 * For groups of one, as traffic has them: the reward less what was to be expected of such a task, Aᵢ = Rᵢ − V₋ᵢ(xᵢ).
 *
 * V is a ridge regression of the batch's rewards on features of the tasks, fitted out of fold (cross-fitting,
 * Chernozhukov et al. 2018): no attempt's own reward is in its baseline, so the policy gradient is unbiased. What the
 * policy did is no feature: that would take away the merit of it.
 */
export function valueBaseline({
  features = taskFeatures,
  lambda = 1,
  folds = 5,
  scale = 'deviation',
  epsilon = 1e-6,
}: ValueBaselineOptions = {}): CreditEstimator {
  const within = attemptCredit('value-baseline', (attempts, rewards) => {
    const samples = attempts.map(({ trajectory }, i) => [{ row: features(trajectory), target: rewards[i] ?? 0 }])
    const ids = attempts.map(({ trajectory }) => trajectory.id)
    const values = foretoldByOthers(ids, samples, { lambda, folds })
    const residuals = rewards.map((reward, i) => reward - (values[i]?.[0] ?? 0))
    const unit = scale === 'none' ? 1 : deviation(residuals) + epsilon
    return residuals.map((residual) => residual / unit)
  })
  return { name: within.name, credit: (groups, context) => within.credit(oneGroup(groups), context) }
}

/**
 * What is known of a traffic task when it begins: the {@link hashedWords} of the instruction; and, as log(1 + n), how
 * many tools there are and how many messages came before the policy first spoke.
 */
export function taskFeatures({ task, nodes, toolsets }: Trajectory): readonly number[] {
  const spoke = nodes.findIndex(({ message }) => message.role === 'assistant')
  const tools = Object.values(toolsets)[0]?.length ?? 0
  return [...hashedWords(task.instruction), Math.log1p(tools), Math.log1p(spoke < 0 ? nodes.length : spoke)]
}
