import type { EpisodeBudget } from '../agent/index.ts'
import type {
  Clock,
  CreditEstimator,
  DemonstratedEpisode,
  HoldoutTask,
  Json,
  ModelService,
  Optimizer,
  RunId,
  Rubric,
  Store,
  Task,
  TrainingMethod,
} from '../core/index.ts'
import type { Gate } from '../gate/index.ts'
import type { SupervisedOptions } from '../optimize/weights/index.ts'
import type { LearnEvent } from './events.ts'
import type { Schedule } from './schedule.ts'
import type { ScriptedResults } from './scripted.ts'
import type { RolloutSource } from './source.ts'

/** Everything one run is made of. Each piece can be called alone; what is left out is the {@link recipe}'s. */
export interface LearnOptions {
  readonly model: ModelService
  readonly store: Store
  readonly source: RolloutSource
  /** Demonstrations to start from; without them the run starts from what serves now. */
  readonly prime?: { readonly demonstrations: readonly DemonstratedEpisode[]; readonly supervised?: SupervisedOptions }
  /**
   * A hint for a training task on which nothing succeeds: a plan, a place to look, a mistake to avoid. What succeeds with it
   * is imitated without it.
   */
  readonly guide?: (task: Task<'train'>) => string | null
  readonly reward: Rubric
  /** Default: the {@link recipe}'s, as of `optimize` and `gate`. */
  readonly credit?: CreditEstimator
  /** The Parameter that learns, and its optimizer: exactly one `weights` Parameter of the agent, for now. */
  readonly optimize?: Readonly<Record<string, Optimizer<'weights'>>>
  readonly gate?: Gate
  /**
   * Scores scripted policies on the held-out tasks that are measured. They are told and kept beside the arms; those that
   * say `beat` a candidate must beat, as it must the primed policy.
   */
  readonly baselines?: (tasks: readonly HoldoutTask[]) => Promise<readonly ScriptedResults[]>
  /** Default: LoRA of the Parameter's rank, alpha equal to it, on every projection of attention and MLP. */
  readonly method?: TrainingMethod
  /** Of one episode, in rollouts and measurements alike. Default: half as much again as the longest demonstration. */
  readonly budget?: Partial<EpisodeBudget>
  readonly schedule?: Partial<Schedule>
  /** Also train a control: supervised learning alone, on the same demonstrations, for the same time. */
  readonly control?: boolean
  /** Whether the job is checked before training: demonstrations, what they earn, the verifier, the environment. Default true. */
  readonly check?: boolean
  readonly seed?: number
  /** One thread, fixed schedule: the run repeats bit for bit, resumed or not (invariant 12). */
  readonly deterministic?: boolean
  /** Go on with this run from its last checkpoint. */
  readonly resume?: RunId
  readonly onEvent?: (event: LearnEvent) => void
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** Kept with the run: what `--resume` rebuilds everything else from. */
  readonly config?: Readonly<Record<string, Json>>
}
