import type { Environment, HoldoutTask, Split, Task } from '../core/index.ts'
import { LearnError } from './errors.ts'

/** Where episodes come from when an agent practises: an environment and its tasks, kept apart by split. */
export interface RolloutSource {
  readonly kind: 'rollouts'
  readonly environment: Environment
  readonly train: readonly Task<'train'>[]
  readonly validation: readonly Task<'validation'>[]
  readonly holdout: readonly HoldoutTask[]
}

/** What `learn` reads. Traffic joins here. */
export type Source = RolloutSource

const inSplit =
  <S extends Split>(split: S) =>
  (task: Task): task is Task<S> =>
    task.split === split

/**
 * Practice in an environment.
 * @throws LearnError when a split is empty or holds no task of a trained tier, or two tasks share an id: a held-out task must not be learned from.
 */
export function rollouts(environment: Environment, tasks: readonly Task[]): RolloutSource {
  const ids = new Set<string>()
  for (const { id } of tasks) {
    if (ids.has(id)) {
      throw new LearnError({
        code: 'learn/duplicate-task',
        message: `Two tasks have the id "${id}".`,
        hint: 'Give every task its own id: the same task in two splits would leak the holdout.',
      })
    }
    ids.add(id)
  }
  const source: RolloutSource = {
    kind: 'rollouts',
    environment,
    train: tasks.filter(inSplit('train')),
    validation: tasks.filter(inSplit('validation')),
    holdout: tasks.filter(inSplit('holdout')),
  }
  for (const split of ['train', 'validation', 'holdout'] as const) {
    if (source[split].length > 0) continue
    throw new LearnError({
      code: 'learn/empty-split',
      message: `There are no ${split} tasks.`,
      hint: 'A run needs tasks to learn from (train), to choose checkpoints (validation) and to be judged on (holdout).',
    })
  }
  const trained = new Set(source.train.map(({ tier = 'all' }) => tier))
  for (const split of ['validation', 'holdout'] as const) {
    if (source[split].some(({ tier = 'all' }) => trained.has(tier))) continue
    throw new LearnError({
      code: 'learn/empty-split',
      message: `No ${split} task is of a tier that is trained (${[...trained].join(', ')}).`,
      hint: `Give ${split} tasks of such a tier: only they choose and judge what is learned.`,
    })
  }
  return source
}
