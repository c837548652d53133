import { branches, type Demonstration, type NodeId, type ScoredTrajectory, type Trajectory } from '../../core/index.ts'

/** Whether an episode may be imitated: it came to its own end, and earned all there is (invariant 5). */
export const isExample = (one: ScoredTrajectory, ceiling: number): boolean =>
  isWhole(one) && one.reward.value >= ceiling

/** Whether an episode came to its own end and was scored: what broke, was cut or vetoed is no example of anything. */
export function isWhole(
  one: ScoredTrajectory,
): one is ScoredTrajectory & { readonly reward: { readonly status: 'scored'; readonly value: number } } {
  return one.trajectory.stopReason === 'done' && one.reward.status === 'scored'
}

/**
 * What the policy sampled in an episode, to be imitated. What an earlier branch holds is context in a later one.
 * @param mistakes nodes that are read and not imitated.
 */
export function imitable(trajectory: Trajectory, mistakes: ReadonlySet<NodeId> = new Set()): readonly Demonstration[] {
  const held = new Set<NodeId>(mistakes)
  return branches(trajectory).map((path) => {
    const spans = path.flatMap(({ id, spans }) => spans.map((span) => ({ ...span, fresh: !held.has(id) })))
    for (const { id } of path) held.add(id)
    return {
      tokens: spans.flatMap(({ tokens }) => [...tokens]),
      learn: spans.flatMap(({ kind, tokens, fresh }) => tokens.map(() => fresh && kind === 'sampled')),
    }
  })
}
