import { type CreditEstimator, type ScoredTrajectory, seedOf, sha256, type Trajectory, zeros } from '../core/index.ts'
import { oneGroup } from './one-group.ts'
import { attemptCredit, deviation } from './outcome.ts'
import { ridge } from './ridge.ts'

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
    const rows = attempts.map(({ trajectory }) => features(trajectory))
    const fold = foldsOf(attempts, folds)
    const residuals = rewards.slice()
    for (const held of new Set(fold)) {
      const seen = fold.flatMap((of, i) => (of === held ? [] : [i]))
      const value = ridge(
        seen.map((i) => rows[i] ?? []),
        seen.map((i) => rewards[i] ?? 0),
        lambda,
      )
      for (const [i, of] of fold.entries()) if (of === held) residuals[i] = (rewards[i] ?? 0) - value(rows[i] ?? [])
    }
    const unit = scale === 'none' ? 1 : deviation(residuals) + epsilon
    return residuals.map((residual) => residual / unit)
  })
  return { name: within.name, credit: (groups, context) => within.credit(oneGroup(groups), context) }
}

/** The fold of each attempt: folds of equal size, in an order that hangs on the ids alone. */
function foldsOf(attempts: readonly ScoredTrajectory[], folds: number): readonly number[] {
  const count = Math.max(2, Math.min(folds, attempts.length))
  const order = attempts
    .map(({ trajectory }, i) => ({ key: sha256(trajectory.id), i }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const fold = zeros(attempts.length)
  for (const [rank, { i }] of order.entries()) fold[i] = rank % count
  return fold
}

const buckets = 32

/**
 * What is known of a traffic task when it begins: the words of the instruction, hashed with signs into 32 buckets
 * (Weinberger et al. 2009) and brought to length 1; and, as log(1 + n), how many tools there are and how many messages
 * came before the policy first spoke.
 */
export function taskFeatures({ task, nodes, toolsets }: Trajectory): readonly number[] {
  const words = zeros(buckets)
  for (const word of task.instruction.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const hash = seedOf(word)
    const bucket = hash % buckets
    words[bucket] = (words[bucket] ?? 0) + (Math.floor(hash / buckets) % 2 === 0 ? 1 : -1)
  }
  const length = Math.hypot(...words) || 1
  const spoke = nodes.findIndex(({ message }) => message.role === 'assistant')
  const tools = Object.values(toolsets)[0]?.length ?? 0
  return [...words.map((value) => value / length), Math.log1p(tools), Math.log1p(spoke < 0 ? nodes.length : spoke)]
}
