import { clipped, perToken } from './per-token.ts'
import type { SampleTerms, Slopes } from './policy-loss.ts'

/**
 * −min(ρA, clip(ρ, low, high)·A): once the ratio has moved past a bound in the advantage's direction, the token stops
 * pushing (PPO, Schulman et al. 2017, equation 7).
 *
 * For A < 0 nothing bounds it from the other side: a token that has become much likelier than it was pulls with ρ, however
 * large. Dual clip takes −max(min(ρA, clip(ρ)·A), c·A) there, whose slope is 0 from ρ = c on (Ye et al. 2020, "Mastering Complex
 * Control in MOBA Games with Deep Reinforcement Learning", equation 5; c = 3).
 */
export function ppo(terms: SampleTerms, low: number, high: number, dualClip = Number.POSITIVE_INFINITY): Slopes {
  return perToken(terms, (ratio, advantage) => {
    const [free, bounded] = [ratio * advantage, clipped(ratio, low, high) * advantage]
    if (advantage < 0 && ratio > dualClip) return { loss: -dualClip * advantage, slope: 0 }
    return bounded < free ? { loss: -bounded, slope: 0 } : { loss: -free, slope: -free }
  })
}
