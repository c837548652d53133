import type { EpisodeBudget } from '../agent/index.ts'
import type {
  Clock,
  CreditEstimator,
  DemonstratedEpisode,
  HoldoutTask,
  Json,
  Optimizer,
  ParameterName,
  Repositories,
  Rubric,
  Store,
  Task,
  TrainingMethod,
  WeightsLesson,
  WeightsSequence,
} from '../core/index.ts'
import type { Gate } from '../gate/index.ts'
import type { PreferenceOptions, SupervisedOptions } from '../optimize/weights/index.ts'
import type { Factors } from '../reward/index.ts'
import type { LearnEvent } from './events.ts'
import type { ReleasePlan } from './release-plan.ts'
import type { Retirement } from './retirement.ts'
import type { RunModels } from './run/judges.ts'
import type { RolloutSource, Source, TrafficSource } from './source.ts'
import type { LibraryAdapter } from './source/rollouts/library.ts'
import type { Schedule } from './source/rollouts/schedule.ts'
import type { ScriptedResults } from './source/rollouts/scripted.ts'
import type { TrafficSchedule } from './source/traffic/schedule.ts'

/** Improves one Parameter: weights that the run trains, or one of any Kind in a session. */
export type AnyOptimizer = WeightsLesson | WeightsSequence | Optimizer

/** What becomes of a Parameter in a run: it is improved, or retired. */
export type Change = AnyOptimizer | Retirement

/**
 * What one run is made of, whatever it learns from. Each piece can be called alone; what is left out has a default. Its models
 * answer for the agent's weights, and train those that learn.
 */
export interface RunOptions<S extends Source = Source> extends RunModels {
  readonly store: Store
  readonly source: S
  /** What an episode or a session earned. */
  readonly reward: Rubric
  /** Over rollouts the {@link recipe}'s by default; over traffic, whose groups are of one, `valueBaseline()`. */
  readonly credit?: CreditEstimator
  /**
   * The Parameters that learn, and their optimizers: for weights a policy gradient, beside which a run imitates and prefers as
   * its source lets it, or a `sequence` that says which of these. Default: all of the agent's weights, by policy gradient.
   * Or one Parameter alone that is retired: see `retire`.
   */
  readonly optimize?: Readonly<Record<string, Change>>
  /** Judges the candidate on held-out tasks. */
  readonly gate?: Gate
  /** How a candidate comes to serve. Default: over rollouts `direct()`, over traffic `shadow()`. */
  readonly release?: ReleasePlan
  /**
   * How weights are trained, of all that learn or of each by its name. Default: as the Parameter is declared. `weights` are LoRA
   * of the Parameter's rank, alpha equal to it, on every projection of attention and MLP; a `softPrompt` is prompt tuning.
   */
  readonly method?: TrainingMethod | ((parameter: ParameterName) => TrainingMethod)
  /**
   * How far a fresh token's log-probability may be between what serves weights and what trains them, > 0. Compared before the
   * first update; more ends the run (`learn/served-differs`). Default 0.001.
   */
  readonly agreement?: number
  /**
   * False: what serves is left as it is, whatever the agent's initial values are. For a learner of some of an agent's Parameters,
   * which another process declares. Default: the agent is recorded as it is declared here (`Registry.initial`).
   */
  readonly declares?: boolean
  readonly seed?: number
  /** One thread, fixed schedule: the run repeats bit for bit, resumed or not (invariant 12). */
  readonly deterministic?: boolean
  /** The id of a run to go on with, from its last checkpoint. */
  readonly resume?: string
  /**
   * Throws when this process may not write any more, as another has taken its place; asked in every transaction.
   * Then the run stops there, and is the other's.
   */
  readonly mayWrite?: (tx: Repositories) => Promise<void>
  readonly onEvent?: (event: LearnEvent) => void
  /** Ends the run; it can be resumed from its last checkpoint. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Kept with the run: what `--resume` rebuilds everything else from. */
  readonly config?: Readonly<Record<string, Json>>
}

/** A run over rollouts: practice in an environment. */
export interface RolloutOptions extends RunOptions<RolloutSource> {
  /** Demonstrations to start from; without them the run starts from what serves now. */
  readonly prime?: {
    readonly demonstrations: readonly DemonstratedEpisode[]
    readonly supervised?: SupervisedOptions
    /**
     * Adapters that were learned for other work, as {@link releasedAdapters} gives them. The run begins from the one under
     * which the demonstrations are likeliest, or from what serves where none is better.
     */
    readonly startFrom?: readonly LibraryAdapter[]
    /** The weights that imitate them. Only where several learn: what was demonstrated is the work of one. */
    readonly parameter?: ParameterName
  }
  /**
   * A hint for a training task on which nothing succeeds: a plan, a place to look, a mistake to avoid. What succeeds with it
   * is imitated without it.
   */
  readonly guide?: (task: Task<'train'>) => string | null
  /**
   * Scores scripted policies on the held-out tasks that are measured. They are told and kept beside the arms; those that
   * say `beat` a candidate must beat, as it must the primed policy.
   */
  readonly baselines?: (tasks: readonly HoldoutTask[]) => Promise<readonly ScriptedResults[]>
  /** Of one episode, in rollouts and measurements alike. Default: half as much again as the longest demonstration. */
  readonly budget?: Partial<EpisodeBudget>
  /**
   * The reward from which an attempt counts as a success, above the reward's floor. Default: the reward's ceiling where half of
   * the demonstrations earn that, else what nine in ten of them earn. The gate compares rewards, not successes.
   */
  readonly successThreshold?: number
  /** Seconds that one call of the environment may take; after these the attempt has no reward. Default 60; in deterministic mode none. */
  readonly callSeconds?: number
  readonly schedule?: Partial<Schedule>
  /** Also train a control: supervised learning alone, on the same demonstrations, for the same time. */
  readonly control?: boolean
  /** Whether the job is checked before training: demonstrations, what they earn, the verifier, the environment. Default true. */
  readonly check?: boolean
}

/** A run over traffic: what an agent did for people, and what came of it. */
export interface TrafficOptions extends RunOptions<TrafficSource> {
  /** How what people showed is imitated. Default: 8 at a time, at a rate of 1e-4. */
  readonly supervised?: SupervisedOptions
  /** Options of direct preference optimisation. Default: four steps a pass, at a rate of 5e-5. */
  readonly preference?: Omit<PreferenceOptions, 'reference' | 'epochs' | 'rng'>
  readonly schedule?: Partial<TrafficSchedule>
  /**
   * The reward with signals' worth multiplied, by the names of `signalPays`. Where it is given, labels of the agent's audits
   * say by what: as of the batch's close, and kept with the batch.
   */
  readonly weighed?: (factors: Factors) => Rubric
  /** `false`: the reward's own constants count, whatever labels say. Default: true. */
  readonly calibrate?: boolean
}

/** What `learn` takes. */
export type LearnOptions = RolloutOptions | TrafficOptions

/** Options with nothing left open that every run needs. */
export type Complete<O extends LearnOptions> = O & Required<Pick<RunOptions, 'credit' | 'optimize' | 'release'>>
