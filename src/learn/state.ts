import { z } from 'zod'
import { HoldoutUse, TrajectoryId } from '../core/index.ts'
import { Diagnosis, PrimingLook, Standing, UpdateSign } from './steer/index.ts'

/** Why updating ended before the schedule's last update, in words for whoever runs it. */
export const Stopped = z.strictObject({
  reason: z.enum(['silent', 'still', 'collapsed']),
  message: z.string(),
  hint: z.string(),
})
export type Stopped = Readonly<z.infer<typeof Stopped>>

/** An episode of the policy's own that may be imitated. */
export const Success = z.object({
  family: z.string(),
  trajectory: TrajectoryId,
})
export type Success = Readonly<z.infer<typeof Success>>

/** Where a run stands: with the checkpoint's blobs, everything that resuming needs. */
export const LearnState = z.strictObject({
  /** What comes next. */
  phase: z.enum(['prime', 'improve', 'test', 'done']),
  /** Passes of priming done, and updates done. */
  passes: z.int().nonnegative(),
  update: z.int().nonnegative(),
  /** What was seen while imitating. */
  looks: z.array(PrimingLook.extend({ diagnosis: Diagnosis })),
  /** What attempts came to, by family; and as it was at the steady checkpoint. */
  standing: Standing,
  steady: z.strictObject({ update: z.int().nonnegative(), standing: Standing }).nullable(),
  /** Updates since the last recovery. */
  signs: z.array(UpdateSign),
  /** What scales the learning rate now, and at most; and how many recoveries there were. */
  stride: z.strictObject({ scale: z.number().positive(), most: z.number().positive() }),
  recoveries: z.int().nonnegative(),
  /** Own successes to rehearse, the newest last. */
  successes: z.array(Success),
  /** Episodes sampled to learn from; measurements are not among them. */
  episodes: z.int().nonnegative(),
  /** Why updating ended before the schedule's last update; `null` while it has not. */
  stopped: Stopped.nullable(),
  /** The best validation so far, and whether it is better than the first was. */
  best: z.strictObject({ update: z.int().nonnegative(), success: z.number(), rose: z.boolean() }).nullable(),
  /** The update that was validated last. */
  validated: z.int().nonnegative().nullable(),
  /** The last validation that rose over the one that rose before it by more than chance. */
  risen: z.strictObject({ update: z.int().nonnegative(), success: z.number() }).nullable(),
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
  looks: [],
  standing: {},
  steady: null,
  signs: [],
  stride: { scale: 0.5, most: 1 },
  recoveries: 0,
  successes: [],
  episodes: 0,
  stopped: null,
  best: null,
  validated: null,
  risen: null,
  use: null,
  events: 0,
  checkpoints: 0,
  tokensSampled: 0,
  tokensTrained: 0,
  learningSeconds: 0,
  seconds: 0,
}
