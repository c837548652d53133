import type { HoldoutTask, Task } from '../core/index.ts'

/** A world's tasks by split, each in seeded order. */
export interface WorldTasks {
  readonly train: readonly Task<'train'>[]
  readonly validation: readonly Task<'validation'>[]
  readonly holdout: readonly HoldoutTask[]
}
