import type { Trajectory } from '../../core/index.ts'

/**
 * Milliseconds that what each Step did took: from what was said to the last observation; in traffic, from the end of its
 * call to the begin of the next one. `null` where neither is recorded, as in rollouts that are not `timed`.
 */
export function stepDurations({ nodes, steps }: Pick<Trajectory, 'nodes' | 'steps'>): readonly (number | null)[] {
  const at = new Map(nodes.map((node) => [node.id, node.at]))
  return steps.map(({ action, observations, call }, i) => {
    const said = at.get(action)
    const seen = observations.map((id) => at.get(id)).findLast((time) => time !== undefined)
    if (said !== undefined && seen !== undefined) return Math.max(0, seen - said)
    const next = steps[i + 1]?.call
    return call && next ? Math.max(0, next.startedAt - (call.startedAt + call.totalMs)) : null
  })
}
