import {
  type AssistantMessage,
  type DecisionId,
  isUsers,
  type ModelCall,
  type NodeId,
  type Trajectory,
  type TrajectoryNode,
} from '../core/index.ts'

/** One thing that the policy said. */
export interface OwnTurn {
  readonly node: TrajectoryNode
  readonly message: AssistantMessage
  /** How a served model was asked; `null` in a rollout, and where a deployed program spoke. */
  readonly call: ModelCall | null
}

/**
 * What the policy itself said, in its order. Assistant messages that no step of ours made are not its own: examples, edited
 * answers and turns of other models that a client's history brings, turns that a folded context repeats.
 */
export function ownTurns({ nodes, steps, origin }: Pick<Trajectory, 'nodes' | 'steps' | 'origin'>): readonly OwnTurn[] {
  const calls = new Map(steps.map(({ action, call }) => [action, call ?? null]))
  return nodes.flatMap((node) => {
    const isOwn = calls.has(node.id) || (calls.size === 0 && origin.kind !== 'traffic')
    if (node.message.role !== 'assistant' || !isOwn) return []
    return [{ node, message: node.message, call: calls.get(node.id) ?? null }]
  })
}

/** Whether a turn came to its end: a client that leaves, and an upstream that breaks, leave half of one. */
export const isWhole = ({ call }: OwnTurn): boolean => call === null || call.finish !== null

/** The nodes before a node, the nearest first. */
export function before(nodes: ReadonlyMap<NodeId, TrajectoryNode>, { parent }: TrajectoryNode): TrajectoryNode[] {
  const path: TrajectoryNode[] = []
  for (let id = parent; id !== null; ) {
    const node = nodes.get(id)
    if (!node) break
    path.push(node)
    id = node.parent
  }
  return path
}

/** The nodes of one stretch: those before a node back to the user's last words, these included; the nearest first. */
export function sinceUser(nodes: ReadonlyMap<NodeId, TrajectoryNode>, { parent }: TrajectoryNode): TrajectoryNode[] {
  const path: TrajectoryNode[] = []
  for (let id = parent; id !== null; ) {
    const node = nodes.get(id)
    if (!node) break
    path.push(node)
    if (isUsers(node.message)) break
    id = node.parent
  }
  return path
}

/** A trajectory as it stood at a moment: a session may have gone on since. How it ended is known of its end only. */
export function upTo(trajectory: Trajectory, asOf: number): Trajectory {
  const inTime = ({ at }: TrajectoryNode) => at === undefined || at <= asOf
  if (trajectory.nodes.every(inTime)) return trajectory
  const nodes = trajectory.nodes.filter(inTime)
  const known = new Set(nodes.map(({ id }) => id))
  const kept = trajectory.steps.filter(({ action }) => known.has(action))
  const indexOf = new Map(kept.map(({ index }, i) => [index, i]))
  const decided = new Set<DecisionId>()
  const decisions = trajectory.decisions.flatMap((decision) => {
    const step = indexOf.get(decision.step)
    if (step === undefined || (decision.output !== null && !known.has(decision.output))) return []
    const inputs = decision.inputs.filter((input) =>
      typeof input === 'string' ? known.has(input) : decided.has(input.decision),
    )
    decided.add(decision.id)
    return [{ ...decision, step, inputs }]
  })
  const steps = kept.map((step, index) => ({
    ...step,
    index,
    observations: step.observations.filter((node) => known.has(node)),
    decisions: step.decisions.filter((id) => decided.has(id)),
  }))
  const { outcome: _, ...rest } = trajectory
  return { ...rest, nodes, steps, decisions }
}
