import { isDeepStrictEqual } from 'node:util'
import type { FinalState } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { FormsFinalState } from './task-data.ts'

/**
 * The checker: 1 when the form was sent and each of its fields is exactly as it should be; else 0.
 * @throws InvariantError when the final state is not of a form.
 */
export function formsVerify(finalState: FinalState): 0 | 1 {
  const checked = FormsFinalState.safeParse(finalState.state)
  if (!checked.success) throw new InvariantError('the final state is not of a form', checked.error)
  const { sent, filled, expected } = checked.data
  return sent && isDeepStrictEqual(filled, expected) ? 1 : 0
}
