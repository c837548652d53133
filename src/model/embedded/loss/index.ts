import type { Loss } from '../../../core/index.ts'
import { cispo } from './cispo.ts'
import { crossEntropy } from './cross-entropy.ts'
import { importanceSampling } from './importance-sampling.ts'
import { ppo } from './ppo.ts'
import type { TokenLoss } from './token-loss.ts'

export type { LossTerms, TokenLoss } from './token-loss.ts'

export type LossKind = Loss['kind']

/** Every loss of the Trainer port by its name on the wire. */
export const tokenLosses: Readonly<Record<LossKind, TokenLoss>> = {
  cross_entropy: crossEntropy,
  importance_sampling: importanceSampling,
  ppo,
  cispo,
}
