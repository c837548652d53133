import type { Credit } from './credit.ts'
import type { Decision } from './decision.ts'
import type { GroupId, TrajectoryId, VersionId } from './id.ts'
import type { ParameterName } from './parameter.ts'
import type { Trajectory } from './trajectory.ts'

/** A Decision with what it earned. */
export interface CreditedDecision {
  readonly decision: Decision
  readonly credit: Credit
}

/**
 * What the Decisions of one kind of Parameter deposit: a module of that kind, so that no other file names it.
 * @template D one deposit.
 */
export interface DepositRule<K extends string, D> {
  readonly kind: K
  /** @param decided what one Version decided in one trajectory, in order. */
  deposit(trajectory: Trajectory, decided: readonly CreditedDecision[]): readonly D[]
}

/** What `backward` leaves for one Version of a Parameter that learns, from a batch. */
export interface Gradient<D> {
  readonly parameter: ParameterName
  readonly version: VersionId
  readonly deposits: readonly D[]
}

/**
 * One root-to-leaf sample for a `weights` Parameter. The arrays have equal length, one entry a token; a token enters a
 * policy loss only where `advantages` is not 0, and only sampled tokens carry one (invariant 2).
 */
export interface PolicySample {
  /** Samples of one group share prefixes, which a trainer computes once. */
  readonly group: GroupId
  /** The episode whose branch it is. Default: one of its own. */
  readonly trajectory?: TrajectoryId
  /** Whether a hint that the policy read was taken out of its tokens: its behaviour log-probabilities are of what it read. */
  readonly stripped?: boolean
  /** Tokens that stand there only because something was recalled, one entry a token. Absent where none does. */
  readonly recalled?: readonly boolean[]
  /** What its episode earned, as the credit of its last decision tells; absent where that does not. */
  readonly earned?: number
  /** The Versions of everything that acted in its trajectory, this Parameter's own among them. */
  readonly acted?: Readonly<Record<ParameterName, readonly VersionId[]>>
  readonly tokens: readonly number[]
  /** 0 where the token was not sampled by this Parameter, or entered another branch's sample already. */
  readonly advantages: readonly number[]
  /** Behaviour log-probability; 0 where not sampled. */
  readonly behaviourLogprobs: readonly number[]
  /** Whether this Parameter sampled the token and this sample is the one that carries it. */
  readonly sampled: readonly boolean[]
  readonly temperature: number
  /** Whether top-k or top-p cut the distribution that any of its tokens was drawn from. */
  readonly truncated: boolean
}

/** One decision of a `text` Parameter: how good the episode was, what a critic said of it, and the episode itself. */
export interface TextCritique {
  readonly advantage: number | null
  /** In the reward's unit; `null` where credit does not tell. */
  readonly utility: number | null
  readonly critique: string | null
  readonly trajectory: Trajectory
}
