import type { CreditEstimator } from '../core/index.ts'
import { mean, outcomeCredit } from './outcome.ts'

/**
 * The reward in standard deviations from the group's mean: Aᵢ = (Rᵢ − R̄) / (σ + ε).
 *
 * Group-relative policy optimisation (Shao et al. 2024, "DeepSeekMath", section 4.1). σ is the population's.
 */
export function grpo({ epsilon = 1e-6 }: { readonly epsilon?: number } = {}): CreditEstimator {
  return outcomeCredit('grpo', (rewards) => grpoAdvantages(rewards, epsilon))
}

function grpoAdvantages(rewards: readonly number[], epsilon: number): readonly number[] {
  const baseline = mean(rewards)
  const deviation = Math.sqrt(mean(rewards.map((reward) => (reward - baseline) ** 2)))
  return rewards.map((reward) => (reward - baseline) / (deviation + epsilon))
}
