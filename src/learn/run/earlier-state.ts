import { z } from 'zod'
import { LearnError } from '../errors.ts'
import { initialState, RunState } from './state.ts'

type Place = Pick<RunState, 'phase' | 'stage'>

const stage = (name: string): Place => ({ phase: 'learn', stage: name })

/** Phases of runs over rollouts and over traffic, when these were two programs. */
const earlierPhases: Readonly<Record<string, Place>> = {
  prime: stage('prime'),
  improve: stage('practise'),
  // The control came after this was written; it is not trained twice.
  test: stage('control'),
  gather: stage('gather'),
  anchor: stage('anchor'),
  practise: stage('practise'),
  imitate: stage('imitate'),
  prefer: stage('prefer'),
  judge: { phase: 'judge', stage: null },
  serve: { phase: 'release', stage: null },
}

/** A state that names its stage; also as `learning`, as an earlier version called it; or one that has phases alone. */
const Stored = z.union([
  z.looseObject({ phase: z.string(), stage: z.string().nullable() }),
  z
    .looseObject({ phase: z.string(), learning: z.string().nullable() })
    .transform(({ learning, ...state }) => ({ ...state, stage: learning })),
  z.looseObject({ phase: z.string() }).transform((state) => ({ ...state, ...earlierPhases[state.phase] })),
])

/**
 * Reads a checkpoint's state; one that an earlier version wrote goes on at the same place.
 * @throws LearnError for one that is not known here.
 */
export function stateOf(stored: unknown): RunState {
  const { success, data, error } = RunState.safeParse({ ...initialState, ...Stored.parse(stored) })
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
