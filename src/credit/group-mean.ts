import type { CreditEstimator } from '../core/index.ts'
import { mean, outcomeCredit } from './outcome.ts'

/**
 * The reward less the group's mean: Aᵢ = Rᵢ − R̄.
 *
 * Without the division by the standard deviation a group counts by how much its rewards differ, so that nearly solved
 * and nearly hopeless tasks are not blown up (Liu et al. 2025, "Understanding R1-Zero-like training", Dr. GRPO).
 */
export function groupMean(): CreditEstimator {
  return outcomeCredit('group-mean', groupMeanAdvantages)
}

function groupMeanAdvantages(rewards: readonly number[]): readonly number[] {
  const baseline = mean(rewards)
  return rewards.map((reward) => reward - baseline)
}
