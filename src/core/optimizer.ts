import type { BlobRef } from './blob-ref.ts'
import type { Gradient, PolicySample } from './gradient.ts'
import type { ScoredTrajectory } from './group.ts'
import type { VersionId } from './id.ts'
import type { Json } from './json.ts'
import type { AnyKind, DepositOf, ValueOf } from './kind.ts'
import type { LeakCheck } from './leak-check.ts'
import type { ParameterName, WeightsValue } from './parameter.ts'
import type { Rng } from './rng.ts'
import type { Sampler } from './sampler.ts'
import type { LearnableTask } from './task.ts'
import type { Loss, Trainer } from './trainer.ts'

/** Numbers that describe one step, by name. */
export type Metrics = Readonly<Record<string, number>>

/**
 * Attempts tasks that an Optimizer may see with a value in the place of what acts, and gives what came of it: trajectories
 * with what they earned, never a mean alone. The type does not admit `holdout` (invariant 6).
 */
export type Evaluate<Value> = (value: Value, tasks: readonly LearnableTask[]) => Promise<readonly ScoredTrajectory[]>

/** What a Learning is opened for. */
export interface Seat<Value> {
  readonly parameter: ParameterName
  /** What served when the run began. */
  readonly version: VersionId
  readonly value: Value
  /** The run's chance for this Parameter and a key: the same each time that it is asked for. */
  rng(...key: readonly (string | number)[]): Rng
  /** `null` where a source has no tasks to attempt, as traffic. */
  readonly evaluate: Evaluate<Value> | null
  /** Training and validation tasks of the source, which {@link evaluate} may be asked for. Default: none. */
  readonly tasks?: readonly LearnableTask[]
  /** Whether a text quotes tasks that measure. It tells nothing else of held-out ones (invariant 6). Default: there are none. */
  readonly leaks?: LeakCheck
}

/** Everything that a Learning knows: what resuming after `kill -9` needs. */
export interface SavedLearning {
  readonly state: Json
  /** Large parts, by name. Default: none. */
  readonly blobs?: Readonly<Record<string, BlobRef>>
}

/** One session in which an Optimizer improves one Parameter. */
export interface Learning<M = AnyKind> {
  /** What acts in the attempts to come. */
  bound(): Promise<ValueOf<M>>
  /** Takes what the decisions of a batch deposited. @param update steps of the run before this one. */
  step(deposits: readonly DepositOf<M>[], update: number): Promise<Metrics>
  /** Its whole state, for the run's checkpoint. */
  save(): Promise<SavedLearning>
  /** What should serve, as far as it has come: it is validated, and the best is judged. `null`: nothing other than now. */
  propose(): Promise<ValueOf<M> | null>
  /** Lets go of what it holds. */
  close?(): Promise<void>
}

/**
 * Improves Parameters of one Kind, in sessions.
 * @template M the Kind.
 */
export interface Optimizer<M = AnyKind> {
  readonly name: string
  /** The name of its Kind. */
  readonly kind: string
  /** @param saved what the session before it saved last, where a run is resumed. */
  open(seat: Seat<ValueOf<M>>, saved: SavedLearning | null): Promise<Learning<M>>
}

/** What a {@link WeightsOptimizer} is given in one step. */
export interface WeightsStep {
  readonly current: { readonly version: VersionId; readonly value: WeightsValue }
  readonly gradients: readonly Gradient<PolicySample>[]
  readonly trainer: Trainer
  /** Updates of this run before this one: schedules depend on it, so that a resumed run goes on alike. */
  readonly update: number
  /** Factor on the learning rate, in (0, 1]: how much the batch is to be trusted. Default 1. */
  readonly pace?: number
  readonly sampler: Sampler
  readonly rng: Rng
}

/**
 * Improves the weights that a run trains: it moves the run's trainer, whose state is the run's. The run averages, validates
 * and goes back, whatever moves them.
 */
export interface WeightsOptimizer {
  readonly name: string
  readonly kind: 'weights'
  /** Losses that it asks its trainer for: a trainer without them is refused before a run starts. */
  readonly losses?: readonly Loss['kind'][]
  /** Whether it asks its trainer for an auxiliary head, as `losses`. Default false. */
  readonly auxiliary?: boolean
  /** The samples as a step learns from them. Default: as they are. */
  learned?(samples: readonly PolicySample[]): readonly PolicySample[]
  step(context: WeightsStep): Promise<{ readonly metrics: Metrics }>
}
