import { z } from 'zod'

/** How long and how broadly a run learns. */
export const Schedule = z.strictObject({
  /** Passes over the demonstrations before the first update. */
  primePasses: z.int().nonnegative().default(4),
  /** Updates of the policy, at most. */
  updates: z.int().nonnegative().default(64),
  /** Tasks of one update. */
  tasks: z.int().positive().default(32),
  /** Attempts at each task: they form a Group. */
  attempts: z.int().min(2).default(4),
  /** Episodes open at once. */
  concurrency: z.int().positive().default(128),
  /** Sampling temperature of rollouts; evaluation is greedy. */
  temperature: z.number().positive().max(2).default(0.7),
  /** Validate after every so many updates. */
  validateEvery: z.int().positive().default(16),
  /** Validation tasks a look, at most. */
  validationTasks: z.int().positive().default(120),
  /** Stop updating when this many validations in a row bring no new best; omitted = never. */
  patience: z.int().positive().optional(),
  /** Stop updating when the success on validation reaches this. */
  target: z.number().min(0).max(1).optional(),
  /** Stop updating when priming and updates have taken this many seconds; refused in deterministic mode. */
  seconds: z.number().positive().optional(),
  /** Held-out tasks of the test and the gate, at most. */
  holdoutTasks: z.int().positive().default(400),
  /** End an update's rollouts when this share of its episodes has ended; refused in deterministic mode. */
  straggler: z.number().positive().max(1).optional(),
})
export type Schedule = z.infer<typeof Schedule>
