import { z } from 'zod'

/** How long and how broadly a run learns. */
export const Schedule = z.strictObject({
  /**
   * Passes over the demonstrations before the first update. Omitted: until `primeSuccess` or `primeInformative` is reached,
   * or success rises no more.
   */
  primePasses: z.int().nonnegative().optional(),
  /** Imitation goes on until so many attempts succeed at training tasks that were not demonstrated. */
  primeSuccess: z.number().min(0).max(1).default(0.75),
  /** Or until the attempts of so many groups differ in reward: then practice has something to learn from. */
  primeInformative: z.number().min(0).max(1).default(1),
  /** Passes over the demonstrations, at most, where `primePasses` is omitted. */
  primePassesAtMost: z.int().positive().default(48),
  /** Updates of the policy, at most. */
  updates: z.int().nonnegative().default(96),
  /** Tasks of one update. */
  tasks: z.int().positive().default(32),
  /** Attempts at each task: they form a Group. */
  attempts: z.int().min(2).default(4),
  /**
   * Share of the demonstrations and own successes that are told of other names, and of other values; three quarters as many
   * are asked in other words. 0 where the right act depends on what a name or a number is.
   */
  augmentation: z.number().min(0).max(1).default(0.8),
  /** Share of an update's tasks that are asked in other words, too: practice then learns to answer what was never asked so. */
  rewording: z.number().min(0).max(1).default(0.5),
  /** How an update's tasks are drawn: families on which success is a matter of chance more often, or all alike. */
  allocation: z.enum(['learnability', 'uniform']).default('learnability'),
  /**
   * Groups with differing rewards that an update wants: with fewer it steps smaller, with less than half it samples on first.
   * Omitted: a quarter of `tasks`.
   */
  informativeGroups: z.int().nonnegative().optional(),
  /** Rounds of sampling of one update, at most: after the first, at tasks at which an attempt failed. 1 never samples on. */
  rounds: z.int().positive().default(2),
  /**
   * Earlier successes and demonstrations that an update imitates while nothing succeeds, and fewer the more does; 0 = none.
   */
  imitation: z.int().nonnegative().default(256),
  /**
   * What the average of the latest weights keeps of itself at an update. It is what validation measures, what is released, and
   * what learning goes on from after each validation; 0 = no average: the last update's weights.
   */
  averaging: z.number().min(0).max(0.999).default(0.85),
  /** Times that a collapsed policy goes back to the last steady one, with half the step; then learning stops. */
  recoveries: z.int().nonnegative().default(3),
  /** Where weights learn, stop after so many updates in a row with hardly a group that differs in reward; 0 = never. */
  silentUpdates: z.int().nonnegative().default(6),
  /** Stop after so many updates without a rise in the success of attempts, or on validation; 0 = never. */
  stillUpdates: z.int().nonnegative().default(32),
  /** Episodes open at once. */
  concurrency: z.int().positive().default(128),
  /** Sampling temperature of rollouts; evaluation is greedy. */
  temperature: z.number().positive().max(2).default(0.7),
  /**
   * Tasks of families on which next to nothing succeeds that an update attempts more often, and warmer; their successes are
   * imitated. 0 = none.
   */
  explorationTasks: z.int().nonnegative().default(8),
  explorationAttempts: z.int().positive().default(8),
  explorationTemperature: z.number().positive().max(2).default(1.2),
  /**
   * At tasks at which all attempts failed: attempts of an update that go as one of those did up to one act, which is forced to
   * be another. Their successes are imitated. Fewer where next to none succeeds; 0 = none.
   */
  forcedAttempts: z.int().nonnegative().default(96),
  /** Validate after every so many updates. */
  validateEvery: z.int().positive().default(8),
  /** Validation tasks of each tier, at most. */
  validationTasks: z.int().positive().default(240),
  /**
   * Stop updating when for this many times `validateEvery` updates no validation rose by more than 2 points, and the success
   * of attempts rises no more either; three times as many while success on validation is below 0.95, and twice as many while
   * it is below 0.5. `null` = never.
   */
  patience: z.int().positive().nullable().default(1),
  /** Stop updating when the success on validation reaches this; `null` = never. */
  target: z.number().min(0).max(1).nullable().default(0.99),
  /** Stop updating when priming and updates have taken this many seconds; refused in deterministic mode. */
  seconds: z.number().positive().optional(),
  /**
   * Stop updating when priming and updates have taken this many seconds and validation has reached this success; refused in
   * deterministic mode. `null` = never.
   */
  goodEnough: z
    .strictObject({ success: z.number().min(0).max(1), seconds: z.number().positive() })
    .nullable()
    .default(null),
  /** Held-out tasks of the test and the gate, at most; of each tier that is not trained, half as many. */
  holdoutTasks: z.int().positive().default(400),
  /** End an update's rollouts when this share of its episodes has ended; refused in deterministic mode. */
  straggler: z.number().positive().max(1).optional(),
})
export type Schedule = z.infer<typeof Schedule>

/** How many groups with differing rewards an update wants. */
export const wantedGroups = ({ informativeGroups, tasks }: Schedule): number =>
  informativeGroups ?? Math.ceil(tasks / 4)
