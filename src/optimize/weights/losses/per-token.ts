import type { SampleTerms, Slopes } from './policy-loss.ts'

/** What one token adds to the loss: its value and its slope in the log-probability. */
export interface TokenSlope {
  readonly loss: number
  readonly slope: number
}

/** Adds up what each token with an advantage adds. */
export function perToken(
  { logprobs, oldLogprobs, advantages }: SampleTerms,
  ofToken: (ratio: number, advantage: number, logprob: number) => TokenSlope,
): Slopes {
  let loss = 0
  const slopes = logprobs.map((logprob, t) => {
    const advantage = advantages[t] ?? 0
    if (advantage === 0) return 0
    const found = ofToken(Math.exp(logprob - (oldLogprobs[t] ?? 0)), advantage, logprob)
    loss += found.loss
    return found.slope
  })
  return { loss, slopes }
}

/** The ratio within its bounds. */
export const clipped = (ratio: number, low: number, high: number): number => Math.min(high, Math.max(low, ratio))
