import type { FinalState } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { SearchFinalState } from './task-data.ts'

/**
 * The checker: 1 when the answer is one of the accepted ones, case and white space aside; else 0. No answer is 0.
 * @throws InvariantError when the final state is not of a search episode.
 */
export function verify(finalState: FinalState): 0 | 1 {
  const checked = SearchFinalState.safeParse(finalState.state)
  if (!checked.success) throw new InvariantError('the final state is not of a search episode', checked.error)
  const { answer, accepted } = checked.data
  if (answer === null) return 0
  const given = normaliseAnswer(answer)
  return accepted.some((right) => normaliseAnswer(right) === given) ? 1 : 0
}

/** Lower case, runs of white space as one space, none at the ends. Two answers are the same when these are equal. */
export function normaliseAnswer(answer: string): string {
  return answer.toLowerCase().replace(/\s+/g, ' ').trim()
}
