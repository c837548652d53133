import { isDeepStrictEqual } from 'node:util'
import type { FinalState } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { DeskFinalState } from './task-data.ts'

/**
 * The checker: 1 when the episode was ended and the books are exactly as they should be; else 0.
 * @throws InvariantError when the final state is not of a desk episode.
 */
export function deskVerify(finalState: FinalState): 0 | 1 {
  const checked = DeskFinalState.safeParse(finalState.state)
  if (!checked.success) throw new InvariantError('the final state is not of a desk episode', checked.error)
  const { ended, books, expected } = checked.data
  return ended && isDeepStrictEqual(books, expected) ? 1 : 0
}
