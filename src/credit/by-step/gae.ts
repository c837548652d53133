import type { CreditEstimator, Trajectory } from '../../core/index.ts'
import { CreditError } from '../credit-error.ts'
import { foretoldByOthers } from '../folds.ts'
import { hashedWords } from '../hashed-words.ts'
import { oneGroup } from '../one-group.ts'
import { requireWithin } from '../option.ts'
import { deviation } from '../outcome.ts'
import { taskFeatures } from '../value-baseline.ts'
import { allEqual, stepCredit, type StepRewards } from './step-credit.ts'
import { returnsOf, shownBefore, type SteppedAttempt } from './steps.ts'

export interface GaeOptions extends StepRewards {
  /** What the value hangs on: a row of numbers for each Step, known before the policy took it. Default {@link stepFeatures}. */
  readonly features?: (trajectory: Trajectory) => readonly (readonly number[])[]
  /** γ in [0, 1]. Default 1. */
  readonly discount?: number
  /** λ of the trace, in [0, 1]: 0 trusts the value alone, 1 the returns alone. Default 0.95. */
  readonly trace?: number
  /** Ridge penalty of the value, above 0: the more, the nearer to the mean of the batch. Default 1. */
  readonly lambda?: number
  /** Parts that the batch is cut into, at least 2; the value of each is fitted to the others. Default 5. */
  readonly folds?: number
  /** Divide by the standard deviation of all advantages, or leave the reward's unit. Default `deviation`. */
  readonly scale?: 'deviation' | 'none'
  /** Added to the deviation. Default 1e-6. */
  readonly epsilon?: number
}

/**
 * Generalised advantage estimation over Steps: δₜ = rₜ + γ·V(sₜ₊₁) − V(sₜ), Aₜ = Σₗ (γλ)ˡ·δₜ₊ₗ, with V = 0 after the end.
 *
 * Schulman et al. 2016, equation 16. As in VL-DAC (Bredis et al. 2025), tokens carry the policy's loss and the value lives
 * at Steps alone: all tokens of a Step share its advantage. V is a ridge regression of the batch's returns on features of
 * Steps, fitted out of fold: no attempt's own rewards are in its values. Groups of one will do.
 */
export function gae({
  features = stepFeatures,
  discount = 1,
  trace = 0.95,
  lambda = 1,
  folds = 5,
  scale = 'deviation',
  epsilon = 1e-6,
  stepRewards,
}: GaeOptions = {}): CreditEstimator {
  requireWithin(discount, { estimator: 'gae', option: 'discount', least: 0, most: 1 })
  requireWithin(trace, { estimator: 'gae', option: 'trace', least: 0, most: 1 })
  requireWithin(lambda, { estimator: 'gae', option: 'lambda', least: 1e-12, most: Number.MAX_VALUE })
  const within = stepCredit({
    name: 'gae',
    fewest: 2,
    ...(stepRewards && { stepRewards }),
    advantages(attempts) {
      const returns = attempts.map(({ steps }) => returnsOf(steps, discount))
      if (allEqual(returns.flat())) return null
      const samples = attempts.map((attempt, i) =>
        rowsOf(attempt, features).map((row, t) => ({ row, target: returns[i]?.[t] ?? null })),
      )
      const ids = attempts.map(({ trajectory }) => trajectory.id)
      const values = foretoldByOthers(ids, samples, { lambda, folds })
      const advantages = attempts.map(({ steps }, i) => tracedBack(steps, values[i] ?? [], { discount, trace }))
      const unit = scale === 'none' ? 1 : deviation(advantages.flat().filter((each) => each !== null)) + epsilon
      return advantages.map((each) => each.map((advantage) => advantage && advantage / unit))
    },
  })
  return { name: within.name, credit: (groups, context) => within.credit(oneGroup(groups), context) }
}

/** Advantages from the last Step back to the first; `null` up to a reward that is not known. */
function tracedBack(
  steps: SteppedAttempt['steps'],
  values: readonly number[],
  { discount, trace }: { readonly discount: number; readonly trace: number },
): readonly (number | null)[] {
  const advantages: (number | null)[] = []
  let later: number | null = 0
  for (let t = steps.length - 1; t >= 0; t--) {
    const reward = steps[t]?.reward ?? null
    const error: number | null = reward === null ? null : reward + discount * (values[t + 1] ?? 0) - (values[t] ?? 0)
    later = error === null || later === null ? null : error + discount * trace * later
    advantages.push(later)
  }
  return advantages.toReversed()
}

function rowsOf({ trajectory, steps }: SteppedAttempt, features: NonNullable<GaeOptions['features']>) {
  const rows = features(trajectory)
  if (rows.length === steps.length) return rows
  throw new CreditError({
    code: 'credit/bad-features',
    message: `The features of trajectory "${trajectory.id}" are ${rows.length} rows, and it has ${steps.length} steps.`,
    hint: 'Give one row of numbers for each step, and one for a trajectory without steps.',
  })
}

/** What is known when a Step is taken: the task's features, log(1 + steps before it), and the words that were just shown. */
export function stepFeatures(trajectory: Trajectory): readonly (readonly number[])[] {
  const task = taskFeatures(trajectory)
  return shownBefore(trajectory).map((shown, t) => [...task, Math.log1p(t), ...hashedWords(shown.slice(0, 4000))])
}
