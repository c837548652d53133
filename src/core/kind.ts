import type { z } from 'zod'
import type { BlobRef } from './blob-ref.ts'
import type { Propensity } from './decision.ts'
import type { CreditedDecision } from './gradient.ts'
import type { VersionId } from './id.ts'
import type { Rng } from './rng.ts'
import type { Tenant } from './tenant.ts'
import type { Trajectory } from './trajectory.ts'

/** Which value of a Parameter is in force during an episode. */
export interface VersionInForce {
  readonly version: VersionId
  readonly generation: number
  /** Optimizer steps of the run under way; `null` when the version itself serves. */
  readonly checkpoint: number | null
}

/** What one Parameter acts with during one episode. */
export interface Binding {
  /** The name of its Kind. */
  readonly kind: string
  readonly inForce: VersionInForce
}

/** Whom an episode serves, and when. */
export interface Audience {
  readonly tenant: Tenant
  /** The person that it is about; `null` for nobody, and in practice. */
  readonly subject: string | null
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
}

/** The value in force for one Parameter during one episode. */
export interface Bound<Value> extends Binding {
  readonly value: Value
  /** Absent where nobody said: then it is nobody's, now. */
  readonly audience?: Audience
  /** Its chance in this episode: what is drawn from it repeats in a run that is deterministic. */
  readonly rng: Rng
}

/** Writes down what a handle decided, in the episode under way. */
export interface DecisionRecorder<Made> {
  /**
   * Records a Decision. A Step that comes next counts as led to by it.
   * @param decided.propensity how likely it was: the natural logarithm of a probability, so finite and at most 0 (a rounding
   * error above is allowed). Densities above 1 are not allowed: bin what is continuous, or give `null`. `null` with the reason
   * where it is not known, never invented.
   * @throws KindError for a `made` that the Kind's schema refuses, and for such a propensity; AgentError outside an episode.
   */
  decide(decided: { readonly made: Made; readonly propensity: Propensity }): void
}

/** A Decision with its credit, and what was decided as its Kind's schema reads it. */
export interface Decided<Made> extends CreditedDecision {
  readonly made: Made
}

/**
 * What makes a sort of Parameter learnable. The set is open: a user's own Kind is a module like `weights` and `text`, and
 * nothing else has to know it.
 * @template K its name, as versions and decisions carry it.
 * @template Value the values of its Parameters.
 * @template Made what its Decisions hold: JSON.
 * @template Handle what an agent's program gets.
 * @template Deposit what `backward` leaves for its optimizers.
 * @template B what its handle is made from.
 */
export interface Kind<
  K extends string = string,
  Value = unknown,
  Made = unknown,
  Handle = unknown,
  Deposit = unknown,
  B extends Binding = Bound<Value>,
> {
  /** A lower-case letter, then letters, digits or "-". */
  readonly kind: K
  /** JSON: values are stored, and addressed by content. */
  readonly value: z.ZodType<Value>
  /** What its Decisions hold beside their output. */
  readonly made: z.ZodType<Made>
  /** Whether a stored value's fields stand beside the kind's name, as in `weights` and `text`; else under `value`. */
  readonly flat?: true
  /** Bytes that a value needs to act. Default: none. */
  blobs?(value: Value): readonly BlobRef[]
  /** What an agent's program uses in one episode. */
  handle(bound: B, recorder: DecisionRecorder<Made>, name: string): Handle
  /** @param decided what one Version decided in one trajectory, in order. */
  deposit(decided: readonly Decided<Made>[], trajectory: Trajectory): readonly Deposit[]
}

/** A Kind of any sort. */
export type AnyKind = Kind<string, unknown, unknown, unknown, unknown, Binding>
/** The values of a Kind's Parameters. */
export type ValueOf<M> = M extends { readonly value: z.ZodType<infer Value> } ? Value : never
/** What `backward` leaves for a Kind's optimizers. */
export type DepositOf<M> = M extends { deposit(...args: never): readonly (infer Deposit)[] } ? Deposit : never
/** What an agent's program uses a Kind's Parameters by. */
export type HandleIn<M> = M extends { handle(...args: never): infer Handle } ? Handle : never
