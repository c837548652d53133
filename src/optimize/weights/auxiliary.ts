import type { AuxiliaryTargets, Trainer } from '../../core/index.ts'
import { shifted } from './datum.ts'
import { OptimizeError, requireOption, requirePositiveInteger } from './errors.ts'

/** An episode as its model read it; equal lengths, one entry a token. */
export interface ActedEpisode {
  readonly tokens: readonly number[]
  /** Whether the model acted with the token. Acts next to each other are one turn, and what stands between turns was observed. */
  readonly acted: readonly boolean[]
  /** What the episode earned; absent where nobody knows, and of a demonstration. */
  readonly earned?: number
}

/**
 * Numbers that weights learn to predict beside their loss, so that hidden states come to hold what helps to predict them; see
 * `AuxiliaryHead` of the trainer. They change no reward and no advantage.
 */
export interface AuxiliaryTasks {
  /** How many numbers are predicted. */
  readonly outputs: number
  /** β ≥ 0: what their mean squared error counts beside the loss. 0: they are not learned, as if there were none. */
  readonly weight: number
  /**
   * What should be predicted where a token is acted, before it is read: one array a token, `outputs` numbers where it was acted.
   * The others are not read. `null`: nothing is known of this episode.
   */
  targets(episode: ActedEpisode): readonly (readonly number[])[] | null
}

/** Tasks that count; `null`: there are none. @throws OptimizeError for outputs or a weight that no tasks can have. */
export function usedAuxiliary(tasks: AuxiliaryTasks | undefined): AuxiliaryTasks | null {
  if (tasks === undefined) return null
  requirePositiveInteger('outputs', tasks.outputs)
  const valid = tasks.weight >= 0 && Number.isFinite(tasks.weight)
  requireOption(valid, `Auxiliary tasks weigh ${tasks.weight}`, 'Make the weight a number of 0 or more')
  return tasks.weight === 0 ? null : tasks
}

/**
 * Gives the trainer a head for the tasks, where it has none of that size.
 * @throws OptimizeError for a trainer that can have none.
 */
export async function attachHead(trainer: Trainer, { outputs }: AuxiliaryTasks): Promise<void> {
  if (trainer.auxiliary) return trainer.auxiliary.attach(outputs)
  throw new OptimizeError({
    code: 'optimize/no-auxiliary-head',
    message: 'The trainer learns no auxiliary tasks.',
    hint: 'Leave the option "auxiliary" out, or train in the embedded engine.',
  })
}

/**
 * Targets a token, as a datum has them.
 * @param targets as {@link AuxiliaryTasks.targets} gives them.
 * @param marked the tokens that predict, each with this weight.
 */
export function auxiliaryOf(
  targets: readonly (readonly number[])[],
  marked: readonly boolean[],
  weight: number,
): AuxiliaryTargets {
  return { targets: shifted(targets), weights: shifted(marked).map((flag) => (flag ? weight : 0)) }
}
