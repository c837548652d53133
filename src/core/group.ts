import { InvariantError } from '../errors/index.ts'
import type { GroupId } from './id.ts'
import type { ParameterName } from './parameter.ts'
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

/** The version and checkpoint of each Parameter that decided in an episode; several, where one changed midway. */
function versionsOf({ decisions }: Trajectory): ReadonlyMap<ParameterName, string> {
  const seen = new Map<ParameterName, Set<string>>()
  for (const { parameter, version, checkpoint } of decisions) {
    const versions = seen.get(parameter) ?? new Set()
    seen.set(parameter, versions.add(JSON.stringify([version, checkpoint])))
  }
  return new Map([...seen].map(([parameter, versions]) => [parameter, [...versions].toSorted().join()]))
}

/** A group under construction: what its attempts agree on so far. */
interface Gathering {
  readonly id: GroupId
  readonly versions: Map<ParameterName, string>
  readonly attempts: ScoredTrajectory[]
}

/**
 * Sorts scored trajectories into Groups. Attempts that carry the same group id but differ in task or in a Parameter's
 * version are split, never averaged over (invariant 4). A Parameter that decided nothing in an attempt (an arm without
 * recall, an episode that ended early) contradicts no version; such an attempt joins the first group that it fits.
 */
export function groupAttempts(scored: readonly ScoredTrajectory[]): readonly Group[] {
  const gathered = new Map<string, Gathering[]>()
  for (const item of scored) {
    const { group: id, task } = item.trajectory
    const key = JSON.stringify([id, task.id])
    const candidates = gathered.get(key) ?? []
    const versions = versionsOf(item.trajectory)
    let home = candidates.find((group) => agree(group.versions, versions))
    if (!home) {
      home = { id, versions: new Map(), attempts: [] }
      candidates.push(home)
    }
    home.attempts.push(item)
    for (const [parameter, version] of versions) home.versions.set(parameter, version)
    gathered.set(key, candidates)
  }
  return [...gathered.values()].flat()
}

const agree = (known: ReadonlyMap<ParameterName, string>, versions: ReadonlyMap<ParameterName, string>): boolean =>
  [...versions].every(([parameter, version]) => (known.get(parameter) ?? version) === version)

/** The numeric rewards of a group, in the order of its attempts; `null` where missing. */
export function rewardsOf(group: Group): readonly (number | null)[] {
  return group.attempts.map(({ reward }) => {
    if (reward.status === 'missing') return null
    if (!Number.isFinite(reward.value)) throw new InvariantError(`a reward is ${reward.value}`)
    return reward.value
  })
}
