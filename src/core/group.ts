import { InvariantError } from '../errors/index.ts'
import type { GroupId } from './id.ts'
import type { Reward } from './reward.ts'
import type { Trajectory } from './trajectory.ts'

/** A trajectory with what it earned. */
export interface ScoredTrajectory {
  readonly trajectory: Trajectory
  readonly reward: Reward
}

/** Attempts at one Task under equal Versions of all Parameters. */
export interface Group {
  readonly id: GroupId
  readonly attempts: readonly ScoredTrajectory[]
}

/** What the attempts of a group must agree on: one task, and for each Parameter one version and checkpoint. */
function signature(trajectory: Trajectory): string {
  const versions = trajectory.decisions.map((d) => `${d.parameter}@${d.version}+${d.checkpoint ?? 'released'}`)
  return [trajectory.task.id, ...[...new Set(versions)].toSorted()].join('|')
}

/**
 * Sorts scored trajectories into Groups. Attempts that carry the same group id but differ in task or in a Parameter's
 * version are split, never averaged over (invariant 4). An attempt without decisions joins the group id's first split.
 */
export function groupAttempts(scored: readonly ScoredTrajectory[]): readonly Group[] {
  const groups = new Map<string, { id: GroupId; attempts: ScoredTrajectory[] }>()
  const withDecisions = scored.filter((s) => s.trajectory.decisions.length > 0)
  for (const item of withDecisions) {
    const key = `${item.trajectory.group}|${signature(item.trajectory)}`
    const group = groups.get(key) ?? { id: item.trajectory.group, attempts: [] }
    group.attempts.push(item)
    groups.set(key, group)
  }
  for (const item of scored) {
    if (item.trajectory.decisions.length > 0) continue
    const { group: id, task } = item.trajectory
    const home = [...groups.values()].find(
      (g) => g.id === id && g.attempts.some((a) => a.trajectory.task.id === task.id),
    )
    if (home) home.attempts.push(item)
    else groups.set(`${id}|${task.id}|undecided`, { id, attempts: [item] })
  }
  return [...groups.values()]
}

/** The numeric rewards of a group, in the order of its attempts; `null` where missing. */
export function rewardsOf(group: Group): readonly (number | null)[] {
  return group.attempts.map(({ reward }) => {
    if (reward.status === 'missing') return null
    if (!Number.isFinite(reward.value)) throw new InvariantError(`a reward is ${reward.value}`)
    return reward.value
  })
}
