import { clipped, perToken } from './per-token.ts'
import type { SampleTerms, Slopes } from './policy-loss.ts'

/**
 * PPO whose ratio is the whole sample's, s = exp(mean_t (lp_t − lp_old,t)): single tokens' ratios are noise in long samples.
 * Each token counts −min(sA, clip(s, low, high)·A), and its slope is −sA, or 0 for all where s is past a bound
 * (GSPO, Zheng et al. 2025, equations 5 and 13: the form in which tokens may differ in their advantage; where they do not, it
 * is GSPO). A sample's tokens are those that carry an advantage.
 */
export function gspo(terms: SampleTerms, low: number, high: number): Slopes {
  const ratio = sequenceRatio(terms)
  return perToken(terms, (_, advantage) => {
    const [free, bounded] = [ratio * advantage, clipped(ratio, low, high) * advantage]
    return bounded < free ? { loss: -bounded, slope: 0 } : { loss: -free, slope: -free }
  })
}

/** The geometric mean of the tokens' ratios; 1 without any. */
export function sequenceRatio({ logprobs, oldLogprobs, advantages }: SampleTerms): number {
  let [sum, tokens] = [0, 0]
  for (const [t, logprob] of logprobs.entries()) {
    if ((advantages[t] ?? 0) === 0) continue
    sum += logprob - (oldLogprobs[t] ?? 0)
    tokens++
  }
  return Math.exp(sum / Math.max(1, tokens))
}
