import type { Metrics, PolicySample } from '../../core/index.ts'

/**
 * Truncated importance weights, for samples of another policy than the trainer's: an inference engine whose numbers differ, or
 * weights of before. The ratio is split in two: the loss's own is from the trainer's weights as the update begins, and each
 * token weighs min(π_trainer / π_sampler, cap) (Ionides 2008; for engines Yao et al. 2025, "Your Efficient RL Framework
 * Secretly Brings You Off-Policy RL Training"; for weights of before the decoupled PPO of Hilton et al. 2022).
 * @param logprobs of all targets, by the trainer before the update.
 */
export function withTruncatedWeights(
  samples: readonly PolicySample[],
  logprobs: readonly (readonly number[])[],
  cap: number,
): { readonly samples: readonly PolicySample[]; readonly metrics: Metrics } {
  let [tokens, cut, sum, most] = [0, 0, 0, 0]
  const corrected = samples.map((sample, i) => {
    const measured = sample.sampled.map((sampled, t) => (sampled && t > 0 ? (logprobs[i]?.[t - 1] ?? 0) : 0))
    const advantages = sample.advantages.map((advantage, t) => {
      if (!sample.sampled[t] || t === 0) return advantage
      const ratio = Math.exp((measured[t] ?? 0) - (sample.behaviourLogprobs[t] ?? 0))
      tokens++
      if (ratio > cap) cut++
      sum += ratio
      most = Math.max(most, ratio)
      return advantage * Math.min(ratio, cap)
    })
    return { ...sample, behaviourLogprobs: measured, advantages }
  })
  if (tokens === 0) return { samples: corrected, metrics: {} }
  return {
    samples: corrected,
    metrics: { mismatchMean: sum / tokens, mismatchMax: most, mismatchCutShare: cut / tokens },
  }
}
