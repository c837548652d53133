import { z } from 'zod'
import type { ParameterName } from '../../core/index.ts'
import { LearnError } from '../errors.ts'
import { initialState, initialWeights, RunState, WeightsState } from './state.ts'

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

/** What a state says of weights; one of when a run trained those of one Parameter at most had it among what is the run's. */
function withWeights(stored: object, trained: readonly ParameterName[]): object {
  if ('weights' in stored) return stored
  const isOfWeights = ([name]: readonly [string, unknown]) => Object.hasOwn(WeightsState.shape, name)
  const own = { ...initialWeights, ...Object.fromEntries(Object.entries(stored).filter(isOfWeights)) }
  const others = Object.entries(stored).filter((entry) => !isOfWeights(entry))
  return { ...Object.fromEntries(others), weights: Object.fromEntries(trained.map((name) => [name, own])) }
}

/**
 * Reads a checkpoint's state; one that an earlier version wrote goes on at the same place.
 * @param trained the Parameters whose weights the run trains.
 * @throws LearnError for one that is not known here.
 */
export function stateOf(stored: unknown, trained: readonly ParameterName[]): RunState {
  const placed = withWeights(Stored.parse(stored), trained)
  const { success, data, error } = RunState.safeParse({ ...initialState, ...placed })
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
