import { z } from 'zod'
import type { Run } from '../../core/index.ts'
import { LearnError } from '../errors.ts'
import { suffixOf, type Trained } from './parameter.ts'

/** The turns in which a run's weights learn, as its configuration keeps them: of several weights, each with its name. */
export const turnsOf = (trained: readonly Trained[]): string[] =>
  trained.flatMap(({ parameter, plan }) => plan.turns.map((turn) => `${turn}${suffixOf(parameter, trained)}`))

/** Runs of earlier versions keep no turns. */
const Kept = z.object({ turns: z.array(z.string()).exactOptional() })

/**
 * Holds that a run that still learns goes on in the turns that it began with: in another order it would skip some of them, or
 * take them twice.
 * @throws LearnError when they differ.
 */
export function refuseOtherTurns({ id, config }: Pick<Run, 'id' | 'config'>, trained: readonly Trained[]): void {
  const { turns: before } = Kept.parse(config)
  const now = turnsOf(trained)
  if (before === undefined || before.join() === now.join()) return
  throw new LearnError({
    code: 'learn/other-sequence',
    message: `The weights of run "${id}" began to learn by ${told(before)}, and are to go on by ${told(now)}.`,
    hint: 'Resume it with the sequence that it began with, or begin a new run.',
  })
}

const told = (turns: readonly string[]) => (turns.length === 0 ? 'nothing' : `"${turns.join(', ')}"`)
