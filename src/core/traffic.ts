import { z } from 'zod'
import { Decision } from './decision.ts'
import { CallId, NodeId, TaskId, TrajectoryId } from './id.ts'
import { ToolDefinition } from './message.ts'
import { TrafficOrigin } from './tenant.ts'
import { EpisodeFailure, Step, StopReason, TrajectoryNode } from './trajectory.ts'

/** What is known of a traffic trajectory from its first call on. */
export const TrafficHead = z.strictObject({
  id: TrajectoryId,
  origin: TrafficOrigin,
  /** The first thing that the user said stands for the instruction: production has no Task. */
  task: z.strictObject({ id: TaskId, instruction: z.string() }),
  startedAt: z.number(),
})
export type TrafficHead = z.infer<typeof TrafficHead>

/**
 * What one call adds to its trajectory. Nodes that the trajectory has are left out: shared prefixes are stored once.
 * Steps and decisions are numbered within the part; {@link Trajectory}'s are numbered when the parts are put together.
 */
export const TrajectoryPart = z.strictObject({
  call: CallId,
  nodes: z.array(TrajectoryNode),
  steps: z.array(Step),
  decisions: z.array(Decision),
  /** Tool definitions that no earlier part brought. */
  toolsets: z.record(z.string(), z.array(ToolDefinition)),
  /** How the call ended: the latest part's is the trajectory's. */
  stopReason: StopReason,
  failure: EpisodeFailure.nullable(),
  endedAt: z.number(),
})
export type TrajectoryPart = z.infer<typeof TrajectoryPart>

/** An assistant turn that we produced, by what a later request must hold for us to know the conversation again. */
export const ProducedTurn = z.strictObject({
  /** Hash of the conversation up to and with this turn. */
  digest: z.string(),
  node: NodeId,
})
export type ProducedTurn = z.infer<typeof ProducedTurn>

/** What makes a repeated request the same request: the client's idempotency key, or its body when its SDK says it retries. */
export const RequestIdentity = z.strictObject({
  key: z.string().min(1).max(512),
  /** Hash of the body: the same key with another body is a client's mistake. */
  body: z.string(),
})
export type RequestIdentity = z.infer<typeof RequestIdentity>

/** One finished call as it is committed: everything or nothing. */
export interface RecordedCall {
  readonly head: TrafficHead
  readonly part: TrajectoryPart
  readonly turns: readonly ProducedTurn[]
  /** `null` when the request carries nothing to know it again by. */
  readonly identity: RequestIdentity | null
  /** About how much work it is to go through it; default: little. A heavy one is serialized in parts. */
  readonly weight?: number
}

/** A call under way: what a stream has said so far, so that a half answer outlives the process. */
export interface PendingCall {
  readonly call: CallId
  /** The process that is at it: after a time without news it is given up for dead. */
  readonly gateway: string
  readonly head: TrafficHead
  /** The part as it would be committed now; its stop reason is `interrupted`. */
  readonly part: TrajectoryPart
  readonly updatedAt: number
}
