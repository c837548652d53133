import { exp, mul, neg, sub } from '../graph/index.ts'
import type { TokenLoss } from './token-loss.ts'

/** −w·ρ·A with ρ = exp(lp − lp_old): the policy gradient, corrected for the lag between sampler and trainer. */
export const importanceSampling: TokenLoss = ({ logprobs, oldLogprobs, advantages, weights }) => {
  const ratio = exp(sub(logprobs, oldLogprobs))
  return neg(mul(weights, mul(ratio, advantages)))
}
