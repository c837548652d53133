import type { textKind } from '../../agent/index.ts'
import type { Evaluate, LearnableTask, Rng, Seat, ValueOf } from '../../core/index.ts'
import { TextError } from './text-error.ts'

/** What a text's optimizer is opened for. */
export type TextSeat = Seat<ValueOf<typeof textKind>>
/** The same, where tasks can be attempted. */
export type PractisingSeat = TextSeat & { readonly evaluate: Evaluate<ValueOf<typeof textKind>> }

/** Tasks that are learned from, and tasks that measure what was learned: none is both. */
export interface MeasuringSplit {
  readonly train: readonly LearnableTask[]
  readonly measure: readonly LearnableTask[]
}

/**
 * Validation tasks measure, drawn by chance where there are more than wanted. Without any, half of the training tasks do.
 * @throws TextError (`text/no-tasks`) where either would be empty.
 */
export function splitTasks(tasks: readonly LearnableTask[], wanted: number, rng: Rng): MeasuringSplit {
  const drawn = rng.shuffle(tasks)
  const train = drawn.filter(({ split }) => split === 'train')
  const validation = drawn.filter(({ split }) => split === 'validation')
  const half = Math.ceil(train.length / 2)
  const split =
    validation.length > 0
      ? { train, measure: validation.slice(0, wanted) }
      : { train: train.slice(0, half), measure: train.slice(half).slice(0, wanted) }
  if (split.train.length > 0 && split.measure.length > 0) return split
  throw new TextError({
    code: 'text/no-tasks',
    message: `A text learns from ${train.length} training tasks and is measured on ${validation.length} validation tasks.`,
    hint: 'Give the source training tasks, and validation tasks or at least two training tasks.',
  })
}
