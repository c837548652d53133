import type { CreditEstimator, Trajectory } from '../../core/index.ts'
import { grpo } from '../grpo.ts'
import { requireWithin } from '../option.ts'
import { deviation, mean } from '../outcome.ts'
import { besideOutcome } from './beside-outcome.ts'
import { allEqual, type StepAdvantages, type StepRewards } from './step-credit.ts'
import { returnsOf, shownBefore, type SteppedAttempt } from './steps.ts'

export interface AnchorStatesOptions extends StepRewards {
  /** What a whole attempt is worth. Default `grpo()`. */
  readonly outcome?: CreditEstimator
  /**
   * The state that each Step was taken in, as a text that is equal where the states are; `null` for one that is like no
   * other. Default: what the policy had just been shown.
   */
  readonly state?: (trajectory: Trajectory) => readonly (string | null)[]
  /** ω ≥ 0: what Steps weigh beside the outcome. Default 1. */
  readonly weight?: number
  /** γ in [0, 1]. Default 0.95. */
  readonly discount?: number
  /** Divide by the standard deviation in a state, or leave the reward's unit. Default `deviation`. */
  readonly scale?: 'deviation' | 'none'
  /** Added to the deviation. Default 1e-6. */
  readonly epsilon?: number
}

/**
 * Compares Steps that were taken in the same state, whichever attempt of the group they are of: A = A_outcome + ω·A_step,
 * where A_step = (Gₜ − mean)/(σ + ε) of the discounted returns from that state on.
 *
 * GiGPO (Feng et al. 2025, "Group-in-Group Policy Optimization for LLM Agent Training", section 4). States that come again
 * need no model and no further rollouts to tell a good Step from a bad one. A Step whose state nobody else met has the
 * outcome's credit alone, and is counted.
 */
export function anchorStates({
  outcome = grpo(),
  state = shownBefore,
  weight = 1,
  discount = 0.95,
  scale = 'deviation',
  epsilon = 1e-6,
  stepRewards,
}: AnchorStatesOptions = {}): CreditEstimator {
  requireWithin(weight, { estimator: 'anchorStates', option: 'weight', least: 0, most: 1e6 })
  requireWithin(discount, { estimator: 'anchorStates', option: 'discount', least: 0, most: 1 })
  return besideOutcome({
    name: 'anchor-states',
    outcome,
    without: 'loneSteps',
    ...(stepRewards && { stepRewards }),
    terms(attempts) {
      const returns = attempts.map(({ steps }) => returnsOf(steps, discount))
      const anchors = anchored(attempts, returns, state)
      return attempts.map(({ steps }, i) =>
        steps.map((_, t) => {
          const value = returns[i]?.[t] ?? null
          const alike = anchors[i]?.[t] ?? []
          if (value === null || alike.length < 2) return null
          if (allEqual(alike)) return 0
          const unit = scale === 'none' ? 1 : deviation(alike) + epsilon
          return (weight * (value - mean(alike))) / unit
        }),
      )
    },
  })
}

/** For each Step, the known returns of all Steps that were taken in its state. */
function anchored(
  attempts: readonly SteppedAttempt[],
  returns: StepAdvantages,
  state: NonNullable<AnchorStatesOptions['state']>,
): readonly (readonly (readonly number[])[])[] {
  const byState = new Map<string, number[]>()
  const met = attempts.map(({ trajectory, steps }, i) => {
    const states = state(trajectory)
    return steps.map((_, t) => {
      const value = returns[i]?.[t] ?? null
      const key = states[t] ?? null
      if (key === null || value === null) return []
      const alike = byState.get(key) ?? []
      alike.push(value)
      byState.set(key, alike)
      return alike
    })
  })
  return met
}
