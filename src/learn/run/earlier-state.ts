import { z } from 'zod'
import { LearnError } from '../errors.ts'
import { initialState, RunState } from './state.ts'

/** Phases of runs over rollouts and over traffic, when these were two programs: what was through, and what came next. */
const earlierPhases: Readonly<Record<string, Pick<RunState, 'phase' | 'learned'>>> = {
  prime: { phase: 'learn', learned: 0 },
  improve: { phase: 'learn', learned: 1 },
  test: { phase: 'judge', learned: 3 },
  gather: { phase: 'learn', learned: 0 },
  anchor: { phase: 'learn', learned: 1 },
  practise: { phase: 'learn', learned: 2 },
  imitate: { phase: 'learn', learned: 3 },
  prefer: { phase: 'learn', learned: 4 },
  judge: { phase: 'judge', learned: 5 },
  serve: { phase: 'release', learned: 5 },
}

/** Reads a checkpoint's state; one that an earlier version wrote goes on at the same place. */
export function stateOf(stored: unknown): RunState {
  const known = Stored.parse(stored)
  const place = known.learned === undefined ? earlierPhases[known.phase] : undefined
  const { success, data, error } = RunState.safeParse({ ...initialState, ...known, ...place })
  if (success) return data
  throw new LearnError({
    code: 'learn/other-version',
    message: `The run's checkpoint was written by another version of Ratchet: ${error.issues[0]?.path.join('.')} is not known.`,
    hint: 'Begin a new run, or resume with the version that wrote it.',
    cause: error,
  })
}

const Stored = z.looseObject({ phase: z.string(), learned: z.unknown().optional() })
