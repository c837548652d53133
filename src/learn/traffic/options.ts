import { z } from 'zod'
import type { Agent, EpisodeBudget } from '../../agent/index.ts'
import type {
  Clock,
  CreditEstimator,
  Json,
  ModelService,
  Optimizer,
  Repositories,
  Rubric,
  RunId,
  Store,
  TrainingMethod,
} from '../../core/index.ts'
import { Imitated } from '../../credit/index.ts'
import type { Gate } from '../../gate/index.ts'
import type { PreferenceOptions, SupervisedOptions } from '../../optimize/weights/index.ts'
import type { ImplicitOptions, ReporterLimits } from '../../reward/index.ts'
import type { CanaryRules } from '../../release/index.ts'
import type { TrafficSource } from '../source.ts'
import type { TrafficEvent } from './events.ts'

/**
 * How far learning goes by itself. `shadow`: candidates and their evidence are kept, nobody gets them. `canary`: a share
 * of the sessions gets them, and a person promotes. `automatic`: the gates promote.
 */
export const LearningMode = z.enum(['shadow', 'canary', 'automatic'])
export type LearningMode = z.infer<typeof LearningMode>

/** How much is learned from one batch. */
export const TrafficSchedule = z.strictObject({
  /** Passes over what people showed, and over what they preferred. */
  demonstrationPasses: z.int().nonnegative().default(2),
  preferencePasses: z.int().nonnegative().default(1),
  /** What is imitated. */
  imitate: Imitated.prefault({}),
  /** Epochs of policy gradient over the batch, at most. */
  epochs: z.int().nonnegative().default(2),
  /**
   * Bounds of trust: an epoch begins only while the mean ratio of the trainer's probabilities to those of the weights
   * that sampled lies between these, and the estimated divergence in nats a token is at most that.
   */
  ratio: z.tuple([z.number().positive().max(1), z.number().min(1)]).default([0.8, 1.25]),
  divergence: z.number().positive().default(0.1),
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

/** What judges a candidate before anybody gets it. */
export interface Evaluation {
  /** Attempts the held-out tasks: an agent with a program of its own and the Parameters of the one that learns. */
  readonly agent: Agent
  /** What an attempt earns, where its suite does not say. */
  readonly reward: Rubric
  /** With limits for exactly the source's suites. */
  readonly gate: Gate
  readonly budget?: EpisodeBudget
}

/** Everything one run of learning from traffic is made of. */
export interface TrafficLearnOptions {
  readonly model: ModelService
  readonly store: Store
  readonly source: TrafficSource
  /** What a session earned, from what people did and said. */
  readonly reward: Rubric
  /** For groups of one. Default: `valueBaseline()`. */
  readonly credit?: CreditEstimator
  /** The Parameter that learns, and its optimizer: exactly one `weights` Parameter of the agent. */
  readonly optimize: Readonly<Record<string, Optimizer<'weights'>>>
  readonly supervised?: SupervisedOptions
  /** Options of direct preference optimisation. */
  readonly preference?: Omit<PreferenceOptions, 'reference' | 'epochs' | 'rng'>
  /**
   * What of people's behaviour tells which answers they took, to be imitated and preferred. Default: all of it, whatever
   * the reward makes of it.
   */
  readonly behaviour?: ImplicitOptions
  /** How much one reporter may decide of a batch. */
  readonly reporters?: z.input<typeof ReporterLimits>
  readonly mode: LearningMode
  /** The rules of the canary; needed unless the mode is `shadow`. */
  readonly canary?: CanaryRules
  /** Needed with a source that has an evaluation or suites. */
  readonly evaluation?: Evaluation
  readonly method?: TrainingMethod
  readonly schedule?: Partial<TrafficSchedule>
  readonly seed?: number
  /** Go on with this run from its last checkpoint. */
  readonly resume?: RunId
  /**
   * Throws when this process may not write any more, as another has taken its place; asked in every transaction.
   * Then the run stops there, and is the other's.
   */
  readonly mayWrite?: (tx: Repositories) => Promise<void>
  readonly onEvent?: (event: TrafficEvent) => void
  /** Ends the run at its next checkpoint. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Kept with the run. */
  readonly config?: Readonly<Record<string, Json>>
}
