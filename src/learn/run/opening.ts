import type { HoldoutTask, Json, LearnableTask, LeakCheckParts } from '../../core/index.ts'
import type { LearnEvent } from '../events.ts'
import type { LearnOptions } from '../options.ts'
import type { Course } from './course.ts'
import type { LearnRun, RunParts } from './learn-run.ts'
import type { Attempt } from './learners.ts'
import type { Trained } from './parameter.ts'
import type { TrainerNeeds } from './trainer-needs.ts'

/** What the first event of a run tells. */
export type Started = Extract<LearnEvent, { readonly type: 'started' }>

/** What a source brings to a run that opens. */
export interface Opening<O extends LearnOptions, R extends LearnRun<O>> extends Omit<Course<R>, 'run'> {
  /** What the agent's releases, runs and alerts go by. */
  readonly key: string
  /** Kept with the run, beside what the options say. */
  readonly config: Readonly<Record<string, Json>>
  /** What the run asks of the trainer of these weights. */
  readonly needs: (trained: Trained) => TrainerNeeds
  /** Held-out tasks that judge the candidate; none where only a canary can. */
  readonly holdout: readonly HoldoutTask[]
  open(parts: RunParts<O>): R
  /** How optimizers attempt tasks; left out where there are none to attempt. */
  readonly attempt?: (run: R) => Attempt
  /** Tasks that optimizers may attempt; left out where there are none. */
  readonly tasks?: readonly LearnableTask[]
  /** Tasks that nothing learned may quote, beside those that it may. */
  readonly guarded?: LeakCheckParts
  /** What the first event tells of it. */
  started(run: R, resumed: boolean): Pick<Started, 'resumedAt' | 'chosen'>
}
