import { clip, exp, minimum, mul, neg, sub } from '../graph/index.ts'
import type { TokenLoss } from './token-loss.ts'

/**
 * −w·min(ρA, clip(ρ, low, high)·A) with ρ = exp(lp − lp_old) (Schulman et al. 2017, equation 7): once the ratio has
 * moved past a bound in the advantage's direction, the token stops pushing.
 */
export const ppo: TokenLoss = ({ logprobs, oldLogprobs, advantages, weights, clipLow, clipHigh }) => {
  const ratio = exp(sub(logprobs, oldLogprobs))
  const free = mul(ratio, advantages)
  const clipped = mul(clip(ratio, clipLow, clipHigh), advantages)
  return neg(mul(weights, minimum(free, clipped)))
}
