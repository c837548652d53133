import { clip, exp, mul, neg, stopGradient, sub } from '../graph/index.ts'
import type { TokenLoss } from './token-loss.ts'

/**
 * −w·sg[clip(ρ, low, high)]·lp·A with ρ = exp(lp − lp_old) (MiniMax-M1, 2025): the ratio only weighs the token, so that
 * no token loses its gradient to the clip.
 */
export const cispo: TokenLoss = ({ logprobs, oldLogprobs, advantages, weights, clipLow, clipHigh }) => {
  const ratio = stopGradient(clip(exp(sub(logprobs, oldLogprobs)), clipLow, clipHigh))
  return neg(mul(weights, mul(ratio, mul(logprobs, advantages))))
}
