import { z } from 'zod'
import { Imitated } from '../../../credit/index.ts'

/** How much is learned from one batch. */
export const TrafficSchedule = z.strictObject({
  /** Passes over what people showed, and over what they preferred. */
  demonstrationPasses: z.int().nonnegative().default(2),
  preferencePasses: z.int().nonnegative().default(1),
  /** What is imitated. */
  imitate: Imitated.prefault({}),
  /** Epochs of policy gradient over the batch, at most. None has been shown to help beside imitation. */
  epochs: z.int().nonnegative().default(0),
  /**
   * Bounds of trust: an epoch begins only while the mean ratio of the trainer's probabilities to those of the weights
   * that sampled lies between these, and the estimated divergence in nats a token is at most that.
   */
  ratio: z.tuple([z.number().positive().max(1), z.number().min(1)]).default([0.8, 1.25]),
  divergence: z.number().positive().default(0.1),
  /** Returns from epochs that ended beyond these bounds, each to half the step, before practice ends. */
  recoveries: z.int().nonnegative().default(2),
  /**
   * Share of what a run learns from that is rehearsed: imitated of what earlier runs were shown and of what went well in
   * them, beside the demonstrations and sessions that are fresh. 0: none.
   */
  replay: z.number().min(0).max(0.9).default(0.2),
  /** Earlier runs that it comes from, at most. */
  replayRuns: z.int().nonnegative().default(20),
  /** How strongly the weights hold on to what earlier runs need of them; 0: not. */
  anchor: z.number().nonnegative().default(0),
  /** Sequences of earlier runs that say what they need, at most. */
  anchorSequences: z.int().positive().default(64),
  /** Held-out tasks of the gate and of each suite, at most; episodes open at once. */
  holdoutTasks: z.int().positive().default(400),
  concurrency: z.int().positive().default(64),
})
export type TrafficSchedule = z.infer<typeof TrafficSchedule>
