import type { Loss } from '../../../core/index.ts'
import { type Float, type Integer, select } from '../graph/index.ts'
import { cispo } from './cispo.ts'
import { crossEntropy } from './cross-entropy.ts'
import { importanceSampling } from './importance-sampling.ts'
import { ppo } from './ppo.ts'
import type { LossTerms, TokenLoss } from './token-loss.ts'

export type { LossTerms, TokenLoss } from './token-loss.ts'

export type LossKind = Loss['kind']

/** Every loss of the Trainer port by its name on the wire. */
export const tokenLosses: Readonly<Record<LossKind, TokenLoss>> = {
  cross_entropy: crossEntropy,
  importance_sampling: importanceSampling,
  ppo,
  cispo,
}

const kinds = Object.keys(tokenLosses) as LossKind[]

/** How {@link fedLoss} is told a loss: its place among all. */
export const lossNumber = (kind: LossKind): bigint => BigInt(kinds.indexOf(kind))

/**
 * The loss whose {@link lossNumber} a run feeds (a scalar): `[rows]`. One graph serves all losses, since each graph keeps
 * the memory of its largest run. What is not chosen adds nothing, also where it is not finite.
 */
export function fedLoss(kind: Integer, terms: LossTerms): Float {
  const { graph } = kind
  const ifFed = (name: LossKind, others: Float) =>
    select(
      graph.node('Equal', [kind, graph.integer(kinds.indexOf(name))], 'bool', []),
      tokenLosses[name](terms),
      others,
    )
  return ifFed('importance_sampling', ifFed('ppo', ifFed('cispo', crossEntropy(terms))))
}
