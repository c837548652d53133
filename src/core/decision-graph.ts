import type { Decision, Input } from './decision.ts'
import type { DecisionId, NodeId } from './id.ts'
import type { Trajectory } from './trajectory.ts'

/**
 * Every Decision that something was built from: those that it names, those that made a message that it read, and so on
 * back to the start of the episode. Takes time in proportion to the record, however long its paths are.
 */
export function upstreamOf(
  inputs: readonly Input[],
  { nodes, decisions }: Pick<Trajectory, 'nodes' | 'decisions'>,
): ReadonlySet<DecisionId> {
  const parentOf = new Map(nodes.map(({ id, parent }) => [id, parent]))
  const byId = new Map(decisions.map((decision) => [decision.id, decision]))
  const madeAt = new Map<NodeId, Decision[]>()
  for (const decision of decisions) {
    if (decision.output === null) continue
    const made = madeAt.get(decision.output)
    if (made) made.push(decision)
    else madeAt.set(decision.output, [decision])
  }

  const seen = new Set<NodeId>()
  const upstream = new Set<DecisionId>()
  // A stack, not recursion: an episode may be thousands of turns long.
  const open: Input[] = [...inputs]
  const follow = (decision: Decision | undefined) => {
    if (!decision || upstream.has(decision.id)) return
    upstream.add(decision.id)
    open.push(...decision.inputs)
  }
  for (let input = open.pop(); input !== undefined; input = open.pop()) {
    if (typeof input !== 'string') {
      follow(byId.get(input.decision))
      continue
    }
    for (let node: NodeId | null = input; node !== null && !seen.has(node); node = parentOf.get(node) ?? null) {
      seen.add(node)
      madeAt.get(node)?.forEach(follow)
    }
  }
  return upstream
}
