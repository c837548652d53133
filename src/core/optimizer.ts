import type { Gradient, PolicySample, TextCritique } from './gradient.ts'
import type { VersionId } from './id.ts'
import type { ParameterKind, ParameterName, ValueOf } from './parameter.ts'
import type { Rng } from './rng.ts'
import type { Sampler } from './sampler.ts'
import type { Split } from './task.ts'
import type { Loss, Trainer } from './trainer.ts'

/** Scores a candidate value on tasks that an Optimizer may see; the type does not admit `holdout` (invariant 6). */
export type Evaluate = (
  candidate: ReadonlyMap<ParameterName, unknown>,
  split: Exclude<Split, 'holdout'>,
  budget: { readonly episodes: number },
) => Promise<{ readonly mean: number; readonly n: number }>

/** What decisions of a kind deposit. */
interface Deposits {
  readonly weights: PolicySample
  readonly text: TextCritique
}
export type DepositOf<K extends ParameterKind> = K extends keyof Deposits ? Deposits[K] : never

/** What an Optimizer is given in one step. `trainer` is there for `weights`, and only for them. */
export interface OptimizerContext<K extends ParameterKind> {
  readonly current: { readonly version: VersionId; readonly value: ValueOf<K> }
  readonly gradients: readonly Gradient<DepositOf<K>>[]
  readonly trainer: K extends 'weights' ? Trainer : null
  /** Updates of this run before this one: schedules depend on it, so that a resumed run goes on alike. */
  readonly update: number
  /** Factor on the learning rate, in (0, 1]: how much the batch is to be trusted. Default 1. */
  readonly pace?: number
  readonly evaluate: Evaluate
  readonly sampler: Sampler
  readonly rng: Rng
}

/** New values for one or several Parameters, proposed to be served together. */
export interface Proposal {
  readonly values: ReadonlyMap<ParameterName, unknown>
}

/** Numbers that describe one step, by name. */
export type Metrics = Readonly<Record<string, number>>

/**
 * Improves one kind of Parameter. A `weights` optimizer moves its trainer's checkpoint and proposes nothing until the
 * run mints a candidate from it; a `text` optimizer proposes texts.
 */
export interface Optimizer<K extends ParameterKind> {
  readonly name: string
  readonly kind: K
  /** Losses that it asks its trainer for: a trainer without them is refused before a run starts. */
  readonly losses?: readonly Loss['kind'][]
  step(context: OptimizerContext<K>): Promise<{ readonly proposals: readonly Proposal[]; readonly metrics: Metrics }>
}
