import { z } from 'zod'
import { LearnError } from '../errors.ts'
import { initialState, RunState } from './state.ts'

type Place = Pick<RunState, 'phase' | 'learning'>

const learning = (name: string): Place => ({ phase: 'learn', learning: name })

/** Phases of runs over rollouts and over traffic, when these were two programs. */
const earlierPhases: Readonly<Record<string, Place>> = {
  prime: learning('prime'),
  improve: learning('practise'),
  // The control came after this was written; it is not trained twice.
  test: learning('control'),
  gather: learning('gather'),
  anchor: learning('anchor'),
  practise: learning('practise'),
  imitate: learning('imitate'),
  prefer: learning('prefer'),
  judge: { phase: 'judge', learning: null },
  serve: { phase: 'release', learning: null },
}

const Stored = z.looseObject({ phase: z.string(), learning: z.unknown().optional() })

/**
 * Reads a checkpoint's state; one that an earlier version wrote goes on at the same place.
 * @throws LearnError for one that is not known here.
 */
export function stateOf(stored: unknown): RunState {
  const known = Stored.parse(stored)
  const place = known.learning === undefined ? earlierPhases[known.phase] : undefined
  const { success, data, error } = RunState.safeParse({ ...initialState, ...known, ...place })
  if (success) return data
  throw otherVersion(`${error.issues[0]?.path.join('.')} is not known`, error)
}

/** A checkpoint cannot be gone on with here. */
export const otherVersion = (what: string, cause?: unknown): LearnError =>
  new LearnError({
    code: 'learn/other-version',
    message: `The run's checkpoint was written by another version of Ratchet: ${what}.`,
    hint: 'Begin a new run, or resume with the version that wrote it.',
    ...(cause === undefined ? {} : { cause }),
  })
