import {
  type CallId,
  type Decision,
  DecisionId,
  GroupId,
  type Input,
  type NodeId,
  type Step,
  sha256,
  type TrafficHead,
  type Trajectory,
  type TrajectoryNode,
  type TrajectoryPart,
} from '../core/index.ts'
import { present } from '../errors/index.ts'

/**
 * Puts a traffic trajectory together from what its calls brought.
 *
 * What comes out always holds together, whatever the parts hold: one part that was lost (`record: best-effort`) or that
 * refers to what nobody brought costs what refers to it, never the rest. A node whose parent nobody brought becomes a
 * root, and it and what follows it lose their tokens: what the policy read before them is not known any more, and tokens
 * without their whole prefix must not be learned from (invariant 2). A node that two parts bring is one node, the first: calls that began at the same time both bring what they share.
 * @param parts in the order in which they were committed; at least one.
 */
export function assembleTrajectory(head: TrafficHead, parts: readonly TrajectoryPart[]): Trajectory {
  const { stopReason, failure } = present(parts.at(-1), `a part of trajectory ${head.id}`)
  const nodes = parentsFirst(firstOfEach(parts.flatMap((part) => part.nodes)))
  const ended = parts.reduce((latest, { endedAt }) => Math.max(latest, endedAt), head.startedAt)
  return {
    id: head.id,
    origin: head.origin,
    task: { ...head.task, split: 'train' },
    group: GroupId.parse(head.id),
    attempt: 0,
    seed: 0,
    nodes,
    ...renumbered(parts, new Set(nodes.map(({ id }) => id))),
    toolsets: Object.fromEntries(parts.toReversed().flatMap(({ toolsets }) => Object.entries(toolsets))),
    stopReason,
    failure,
    finalState: null,
    startedAt: head.startedAt,
    seconds: (ended - head.startedAt) / 1000,
  }
}

/** The nodes in their order, but for those that come before their parent: these follow it. */
function parentsFirst(nodes: readonly TrajectoryNode[]): TrajectoryNode[] {
  const known = new Set(nodes.map(({ id }) => id))
  const placed = new Set<NodeId>()
  const waiting = new Map<NodeId, TrajectoryNode[]>()
  const ordered: TrajectoryNode[] = []

  const orphaned = new Set<NodeId>()
  const place = (root: TrajectoryNode) => {
    const next = [root]
    for (let node = next.pop(); node; node = next.pop()) {
      if (placed.has(node.id)) continue
      if (node.parent !== null && orphaned.has(node.parent)) orphaned.add(node.id)
      placed.add(node.id)
      ordered.push(orphaned.has(node.id) ? { ...node, spans: [] } : node)
      for (const child of waiting.get(node.id)?.toReversed() ?? []) next.push(child)
    }
  }

  const adopt = (node: TrajectoryNode) => {
    orphaned.add(node.id)
    place({ ...node, parent: null })
  }

  for (const node of nodes) {
    const { parent } = node
    if (parent === null || placed.has(parent)) place(node)
    else if (!known.has(parent)) adopt(node)
    else {
      const siblings = waiting.get(parent)
      if (siblings) siblings.push(node)
      else waiting.set(parent, [node])
    }
  }
  // Whoever is not placed by now waits for itself, around a circle: the first of it becomes the root.
  for (const node of nodes) if (!placed.has(node.id)) adopt(node)
  return ordered
}

/**
 * Steps and decisions of all parts, numbered through. What a later request repeated made no Decision of its own: the
 * request counts once, and the answer that it repeats stays in the tree as a branch.
 */
function renumbered(
  parts: readonly TrajectoryPart[],
  known: ReadonlySet<NodeId>,
): { readonly steps: Step[]; readonly decisions: Decision[] } {
  const repeated = new Set(parts.flatMap(repeatedBy))
  const steps: Step[] = []
  const decisions: Decision[] = []
  for (const part of parts) {
    const kept = part.steps.filter(({ action }) => known.has(action))
    const first = steps.length
    const stepOf = new Map(kept.map(({ index }, i) => [index, first + i]))
    const made = new Map<DecisionId, DecisionId>()
    for (const decision of repeated.has(part.call) ? [] : firstOfEach(part.decisions)) {
      // What was decided after the last Step of its part belongs to one that never came.
      const beyond = decision.step >= part.steps.length ? first + kept.length : undefined
      const step = stepOf.get(decision.step) ?? beyond
      if (step === undefined || (decision.output !== null && !known.has(decision.output))) continue
      const id = decisionId(part.call, decision.id)
      const inputs = decision.inputs.flatMap((input): Input[] => {
        if (typeof input === 'string') return known.has(input) ? [input] : []
        const earlier = made.get(input.decision)
        return earlier === undefined ? [] : [{ decision: earlier }]
      })
      made.set(decision.id, id)
      decisions.push({ ...decision, id, step, inputs })
    }
    for (const [i, step] of kept.entries()) {
      steps.push({
        ...step,
        index: first + i,
        observations: step.observations.filter((node) => known.has(node)),
        decisions: step.decisions.flatMap((id) => made.get(id) ?? []),
      })
    }
  }
  return { steps, decisions }
}

function repeatedBy({ call, steps }: TrajectoryPart): readonly CallId[] {
  return steps.flatMap((step) => step.call?.retryOf ?? []).filter((other) => other !== call)
}

/** A Decision's id within its trajectory: the call's and the one within the call; their hash when that is too long. */
function decisionId(call: CallId, id: DecisionId): DecisionId {
  const whole = `${call}/${id}`
  return DecisionId.parse(whole.length <= 256 ? whole : sha256(whole))
}

function firstOfEach<T extends { readonly id: string }>(items: readonly T[]): T[] {
  const known = new Map<string, T>()
  for (const item of items) if (!known.has(item.id)) known.set(item.id, item)
  return [...known.values()]
}
