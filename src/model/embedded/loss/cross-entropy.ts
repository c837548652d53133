import { mul, neg } from '../graph/index.ts'
import type { TokenLoss } from './token-loss.ts'

/** −w·lp: supervised learning on the target tokens. */
export const crossEntropy: TokenLoss = ({ logprobs, weights }) => neg(mul(weights, logprobs))
