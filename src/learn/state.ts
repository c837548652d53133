import { z } from 'zod'
import { HoldoutUse } from '../core/index.ts'

/** Where a run stands: with the checkpoint's blobs, everything that resuming needs. */
export const LearnState = z.strictObject({
  /** What comes next. */
  phase: z.enum(['prime', 'improve', 'test', 'done']),
  /** Passes of priming done, and updates done. */
  passes: z.int().nonnegative(),
  update: z.int().nonnegative(),
  /** The best validation so far. */
  best: z.strictObject({ update: z.int().nonnegative(), success: z.number() }).nullable(),
  /** The update that was validated last. */
  validated: z.int().nonnegative().nullable(),
  /** Validations in a row that brought no better one. */
  stale: z.int().nonnegative(),
  /** The use of the holdout that this run has claimed. */
  use: HoldoutUse.nullable(),
  /** Events written. */
  events: z.int().nonnegative(),
  checkpoints: z.int().nonnegative(),
  tokensSampled: z.int().nonnegative(),
  tokensTrained: z.int().nonnegative(),
  /** Seconds of priming and updates; and of everything. */
  learningSeconds: z.number().nonnegative(),
  seconds: z.number().nonnegative(),
})
export type LearnState = z.infer<typeof LearnState>

/** Where every run begins. */
export const initialState: LearnState = {
  phase: 'prime',
  passes: 0,
  update: 0,
  best: null,
  validated: null,
  stale: 0,
  use: null,
  events: 0,
  checkpoints: 0,
  tokensSampled: 0,
  tokensTrained: 0,
  learningSeconds: 0,
  seconds: 0,
}
