import { z } from 'zod'
import { Decision, Input } from './decision.ts'
import { DecisionId, GroupId, NodeId, TaskId, TrajectoryId } from './id.ts'
import { Json } from './json.ts'
import { Message, ToolDefinition } from './message.ts'
import { ModelCall } from './model-call.ts'
import { Span } from './span.ts'
import { Split } from './task.ts'
import { Tenant, TrafficOrigin } from './tenant.ts'

/**
 * Why an episode ended.
 * - `done`: the environment closed it, or the agent returned.
 * - `malformed-call`, `tool-errors`: the policy's calls could not be read, or failed more often than its budget allows.
 * - `turn-budget`, `token-budget`, `time-budget`, `context-length`: a budget was spent.
 * - `straggler`: cut because the rest of the batch had finished; not the policy's act.
 * - `cancelled`: the caller stopped it, or went away; not the policy's act.
 * - `interrupted`: the process that recorded it died midway; not the policy's act.
 * - `environment-error`, `model-error`, `agent-error`: a failure at that boundary; not the policy's act.
 */
export const StopReason = z.enum([
  'done',
  'malformed-call',
  'tool-errors',
  'turn-budget',
  'token-budget',
  'time-budget',
  'context-length',
  'straggler',
  'cancelled',
  'interrupted',
  'environment-error',
  'model-error',
  'agent-error',
])
export type StopReason = z.infer<typeof StopReason>

/** Whether the policy itself caused the episode to end so; what it did not cause is never scored (invariant 1). */
export function causedByPolicy(reason: StopReason): boolean {
  switch (reason) {
    case 'done':
    case 'malformed-call':
    case 'tool-errors':
    case 'turn-budget':
    case 'token-budget':
    case 'time-budget':
    case 'context-length':
      return true
    case 'straggler':
    case 'cancelled':
    case 'interrupted':
    case 'environment-error':
    case 'model-error':
    case 'agent-error':
      return false
  }
}

/** One message of the tree, with the tokens that carried it to or from the model. */
export const TrajectoryNode = z.strictObject({
  id: NodeId,
  parent: NodeId.nullable(),
  message: Message,
  spans: z.array(Span),
  /** When it was recorded, in milliseconds since the epoch; absent in rollouts, unless credit reads it. */
  at: z.number().optional(),
})
export type TrajectoryNode = z.infer<typeof TrajectoryNode>

/** One policy call and the observations that followed. Several answers to one call (`n` > 1) are a Step each. */
export const Step = z.strictObject({
  index: z.int().nonnegative(),
  /** The assistant's node. */
  action: NodeId,
  observations: z.array(NodeId),
  decisions: z.array(DecisionId),
  /** What the environment said that this step earned; `null` when it could not tell, absent where it does not. */
  reward: z.number().nullable().optional(),
  /** What was asked of a served model and what came back beside the message; absent in a rollout. */
  call: ModelCall.optional(),
})
export type Step = z.infer<typeof Step>

/** A failure that ended an episode: recorded once, at the boundary where it happened. */
export const EpisodeFailure = z.strictObject({ code: z.string(), message: z.string() })
export type EpisodeFailure = z.infer<typeof EpisodeFailure>

/** Where a trajectory comes from: an environment, an agent's traffic through the gateway, or another system's records. */
export const Origin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('rollout') }),
  TrafficOrigin,
  z.strictObject({
    kind: z.literal('import'),
    tenant: Tenant,
    /** The format it was read from, and what that format said beyond a trajectory. */
    format: z.string(),
    metadata: z.record(z.string(), Json),
  }),
])
export type Origin = z.infer<typeof Origin>

const Shape = z.strictObject({
  id: TrajectoryId,
  origin: Origin.prefault({ kind: 'rollout' }),
  task: z.strictObject({ id: TaskId, instruction: z.string(), split: Split, tier: z.string().optional() }),
  group: GroupId,
  /** Index within the group. */
  attempt: z.int().nonnegative(),
  seed: z.int(),
  nodes: z.array(TrajectoryNode),
  steps: z.array(Step),
  decisions: z.array(Decision),
  /** Tool definitions that calls were made with, by their content hash ({@link ModelCall}'s `tools`). */
  toolsets: z.record(z.string(), z.array(ToolDefinition)).prefault({}),
  stopReason: StopReason,
  /**
   * What the outcome was built from: what was done to the episode that was verified, what the agent gave back, and the
   * Decisions that left no message (not in older records). Absent where it is all that was recorded (one conversation, a
   * budget that was spent), or is not known: in older records, in traffic, after a failure.
   */
  outcome: z.strictObject({ inputs: z.array(Input) }).optional(),
  failure: EpisodeFailure.nullable(),
  /** What the environment's checker reads; `null` when the environment could not say. */
  finalState: z.strictObject({ state: Json, counts: z.record(z.string(), z.number()) }).nullable(),
  /** Milliseconds since the epoch, and how long it took. */
  startedAt: z.number(),
  seconds: z.number().nonnegative(),
})

/** What does not hold together in a trajectory's references, or `null`. A parent comes before its children: no cycles. */
function inconsistency({ nodes, steps, decisions, outcome }: z.infer<typeof Shape>): string | null {
  const known = new Set<NodeId>()
  for (const { id, parent } of nodes) {
    if (known.has(id)) return `two nodes are called "${id}"`
    if (parent !== null && !known.has(parent)) return `node "${id}" comes before its parent "${parent}"`
    known.add(id)
  }
  const decided = new Set<DecisionId>()
  for (const { id, inputs, output } of decisions) {
    if (decided.has(id)) return `two decisions are called "${id}"`
    const missing = strayInput(inputs, known, decided)
    if (missing !== null) return `decision "${id}" refers to ${missing}`
    if (output !== null && !known.has(output)) return `decision "${id}" refers to "${output}", which is no node`
    decided.add(id)
  }
  const missing = strayInput(outcome?.inputs ?? [], known, decided)
  if (missing !== null) return `the outcome refers to ${missing}`
  for (const [i, { index, action, observations, decisions: made }] of steps.entries()) {
    if (index !== i) return `step ${i} is numbered ${index}`
    const stray = [action, ...observations].find((node) => !known.has(node)) ?? made.find((id) => !decided.has(id))
    if (stray !== undefined) return `step ${i} refers to "${stray}", which does not exist`
  }
  return null
}

/** What is read and is not there. Decisions read earlier ones only: no cycles. */
function strayInput(
  inputs: readonly Input[],
  nodes: ReadonlySet<NodeId>,
  earlier: ReadonlySet<DecisionId>,
): string | null {
  for (const input of inputs) {
    if (typeof input === 'string') {
      if (!nodes.has(input)) return `"${input}", which is no node`
    } else if (!earlier.has(input.decision)) return `"${input.decision}", which is no earlier decision`
  }
  return null
}

/**
 * One episode: a tree of messages with Steps and Decisions. Each sampled token enters a loss once, whatever its branches.
 * Ids are unique, references resolve, and a parent comes before its children.
 */
export const Trajectory = Shape.superRefine((trajectory, context) => {
  const message = inconsistency(trajectory)
  if (message !== null) context.addIssue({ code: 'custom', message })
})
export type Trajectory = z.infer<typeof Trajectory>

/** The root-to-leaf paths of the tree, in the order of their leaves. Each is one sample for training. */
export function branches(trajectory: Pick<Trajectory, 'nodes'>): readonly (readonly TrajectoryNode[])[] {
  const byId = new Map(trajectory.nodes.map((node) => [node.id, node]))
  const parents = new Set(trajectory.nodes.map((node) => node.parent))
  return trajectory.nodes.filter((node) => !parents.has(node.id)).map((leaf) => pathTo(leaf, byId))
}

/** The nodes from the root down to a node, itself included. @param byId all nodes of its trajectory. */
export function pathTo(end: TrajectoryNode, byId: ReadonlyMap<string, TrajectoryNode>): readonly TrajectoryNode[] {
  const back: TrajectoryNode[] = []
  for (let at: TrajectoryNode | undefined = end; at; at = at.parent ? byId.get(at.parent) : undefined) back.push(at)
  return back.toReversed()
}

/** Sampled tokens of an episode. */
export function sampledTokens(trajectory: Pick<Trajectory, 'nodes'>): number {
  let total = 0
  for (const node of trajectory.nodes) {
    for (const span of node.spans) if (span.kind === 'sampled') total += span.tokens.length
  }
  return total
}
