import type { Decision, NodeId, Trajectory, TrajectoryNode } from '../../src/core/index.ts'

/** Every node that a Decision read, parents before their children: its inputs, and what comes before them. */
export function readBy(
  { inputs }: Pick<Decision, 'inputs'>,
  { nodes }: Pick<Trajectory, 'nodes'>,
): readonly TrajectoryNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const read = new Set<NodeId>()
  for (const input of inputs) {
    if (typeof input !== 'string') continue
    for (let node = byId.get(input); node && !read.has(node.id); ) {
      read.add(node.id)
      node = node.parent === null ? undefined : byId.get(node.parent)
    }
  }
  return nodes.filter(({ id }) => read.has(id))
}
