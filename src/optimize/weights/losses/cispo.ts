import { clipped, perToken } from './per-token.ts'
import type { SampleTerms, Slopes } from './policy-loss.ts'

/** −sg[clip(ρ, low, high)]·lp·A: the ratio only weighs the token (MiniMax-M1, 2025). */
export const cispo = (terms: SampleTerms, low: number, high: number): Slopes =>
  perToken(terms, (ratio, advantage, logprob) => {
    const slope = -clipped(ratio, low, high) * advantage
    return { loss: slope * logprob, slope }
  })
