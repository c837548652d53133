import type { VersionId } from './id.ts'
import type { ParameterName } from './parameter.ts'
import type { Trajectory } from './trajectory.ts'

/** The Versions of everything that decided in a trajectory, by Parameter: several, where one changed midway. */
export function actedIn({
  decisions,
}: Pick<Trajectory, 'decisions'>): ReadonlyMap<ParameterName, ReadonlySet<VersionId>> {
  const acted = new Map<ParameterName, Set<VersionId>>()
  for (const { parameter, version } of decisions) {
    const known = acted.get(parameter)
    if (known) known.add(version)
    else acted.set(parameter, new Set([version]))
  }
  return acted
}
