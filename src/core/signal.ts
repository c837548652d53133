import { z } from 'zod'
import { NodeId, TrajectoryId } from './id.ts'
import { Json } from './json.ts'
import { Message } from './message.ts'
import { ClientName, defaultTenant, Tenant } from './tenant.ts'

/** What kind of evidence it is. */
export const SignalSource = z.enum(['verifier', 'judge', 'user', 'outcome', 'guard'])
export type SignalSource = z.infer<typeof SignalSource>

/** What the agent should have said or done, from the node on that the signal is about. */
export const Demonstrated = z.strictObject({ kind: z.literal('demonstration'), messages: z.array(Message).min(1) })
export type Demonstrated = z.infer<typeof Demonstrated>

/** The answer as a person changed it before using it. */
export const EditedAnswer = z.strictObject({ kind: z.literal('edit'), text: z.string() })
export type EditedAnswer = z.infer<typeof EditedAnswer>

/** What a client may report: a number, a yes or no, words, a demonstration, or the answer as it was edited. */
export const SignalValue = z.union([z.number(), z.boolean(), z.string(), Demonstrated, EditedAnswer])
export type SignalValue = z.infer<typeof SignalValue>

/** One piece of evidence about a trajectory or one of its nodes. Arrives at any time; `key` makes it idempotent. */
export const Signal = z.strictObject({
  tenant: Tenant.default(defaultTenant),
  /** Unique within the tenant. */
  key: z.string().min(1).max(256),
  trajectory: TrajectoryId,
  node: NodeId.nullable(),
  source: SignalSource,
  /** Who says so: an API key, an end user, a judge. What one reporter can say is capped. */
  reporter: ClientName.default('ratchet'),
  /** What was measured, for example `solved` or `thumbs`. */
  name: z.string().min(1).max(128),
  /** A {@link SignalValue} from a client; what verifiers, judges and guards report is theirs to define. */
  value: Json,
  /** When it happened, in milliseconds since the epoch. */
  at: z.number(),
})
export type Signal = z.infer<typeof Signal>

/** How much one reporter may say. Beyond it, signals are refused, so that one client cannot flood the evidence. */
export interface SignalCaps {
  /** About one trajectory. */
  readonly perTrajectory: number
  /** About one trajectory, by all who report through one key (`<key>:<name>`): names cost nothing. */
  readonly perTrajectoryOfKey: number
  /** Bytes of the values of those, as JSON. Default: any number. */
  readonly bytesPerTrajectoryOfKey?: number
  /** In the 24 hours before now. */
  readonly perDay: number
}

/**
 * What became of a signal: `recorded`; `repeated`: its key was known, and nothing changed; `capped`: its reporter has said
 * enough.
 */
export type SignalOutcome = 'recorded' | 'repeated' | 'capped'
