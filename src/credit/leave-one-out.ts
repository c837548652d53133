import type { CreditEstimator } from '../core/index.ts'
import { mean, outcomeCredit } from './outcome.ts'

/**
 * The reward less the mean of the *other* attempts: Aᵢ = Rᵢ − mean(Rⱼ, j ≠ i) = K/(K−1) · (Rᵢ − R̄).
 *
 * The baseline does not depend on the attempt that it judges, so the policy gradient is unbiased (Kool et al. 2019;
 * RLOO, Ahmadian et al. 2024; used for tool-using agents in LOOP, Chen et al. 2025). No division by a deviation.
 */
export function leaveOneOut(): CreditEstimator {
  return outcomeCredit('leave-one-out', leaveOneOutAdvantages)
}

function leaveOneOutAdvantages(rewards: readonly number[]): readonly number[] {
  const k = rewards.length
  const baseline = mean(rewards)
  return rewards.map((reward) => (k / (k - 1)) * (reward - baseline))
}
