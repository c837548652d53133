import type { FinalState } from '../../core/index.ts'
import { InvariantError } from '../../errors/index.ts'
import { FilesFinalState } from './task-data.ts'

/**
 * The checker: 1 when every file is as it should be, none is there that should not be, and `done` was called; else 0.
 * @throws InvariantError when the final state is not of a file episode.
 */
export function filesVerify(finalState: FinalState): 0 | 1 {
  const { right, wrong, wanted, done } = compare(finalState)
  return done && right === wanted && wrong === 0 ? 1 : 0
}

/**
 * How far the job is, for a dense reward: in [0, 1], and 1 exactly when {@link filesVerify} gives 1. Each wanted change
 * that was made counts one, each unwanted one takes one away, and `done` counts one when nothing is left to do.
 * @throws InvariantError when the final state is not of a file episode.
 */
export function filesProgress(finalState: FinalState): number {
  const { right, wrong, wanted } = compare(finalState)
  return (Math.max(0, right - wrong) + filesVerify(finalState)) / (wanted + 1)
}

interface Comparison {
  readonly done: boolean
  /** Changes that the job asks for. */
  readonly wanted: number
  /** Of these, how many were made. */
  readonly right: number
  /** Files that the job does not ask to change, and that changed. */
  readonly wrong: number
}

function compare(finalState: FinalState): Comparison {
  const checked = FilesFinalState.safeParse(finalState.state)
  if (!checked.success) throw new InvariantError('the final state is not of a file episode', checked.error)
  const { before, files, changes, done } = checked.data
  const [was, is, shall] = [before, files, changes].map((each) => new Map(Object.entries(each)))
  const all = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])
  const wanted = [...(shall ?? [])]
  return {
    done,
    wanted: wanted.length,
    right: wanted.filter(([path, text]) => (is?.get(path) ?? null) === text).length,
    wrong: [...all].filter((path) => shall?.has(path) !== true && is?.get(path) !== was?.get(path)).length,
  }
}
