import {
  actedIn,
  asText,
  asWeights,
  type ParameterName,
  type ReleaseId,
  type Repositories,
  type Trajectory,
  type Version,
  type VersionId,
  type VersionSet,
} from '../../core/index.ts'

/** Tells whether what a Parameter decided in a trajectory was decided in today's context. */
export type IsInContext = (trajectory: Trajectory) => Promise<boolean>

/**
 * Holds what acted in trajectories beside a Parameter against what serves now: its samples are evidence of how it does today
 * where every other Parameter that acted has the Version that serves; another model that answered in the same session, as a
 * fallback or for something else, is none of them. What was sampled under another prompt, or other
 * memories, may be learned from as what people showed, but is no sample of the policy that serves: its tokens' probabilities
 * would have to be computed again under today's context, which nothing here does.
 *
 * Records of before initial texts were decisions do not name them. Where a session began under a text as it was declared, or
 * before it was, and another serves now, a trajectory that names none had another.
 */
export async function todaysContext(
  { releases, versions }: Pick<Repositories, 'releases' | 'versions'>,
  agent: string,
  parameter: ParameterName,
): Promise<IsInContext> {
  const current = await releases.current(agent)
  const serving: VersionSet = (current && (await releases.get(current.release))?.versions) ?? {}
  const known = new Map<VersionId, Promise<Version | null>>()
  const versionOf = (id: VersionId) => {
    const version = known.get(id) ?? versions.get(id)
    known.set(id, version)
    return version
  }
  const began = new Map<ReleaseId, Promise<readonly ParameterName[]>>()
  /** Texts that no decision names, where a session began under a release, and that serve otherwise now. */
  const changedSince = async (release: ReleaseId): Promise<readonly ParameterName[]> => {
    const then = (await releases.get(release))?.versions
    const found: ParameterName[] = []
    for (const [name, id] of Object.entries(then ? serving : {})) {
      const before = then?.[name]
      const now = await versionOf(id)
      if (name === parameter || before === id || !now || asText(now.value) === null) continue
      const was = before === undefined ? null : await versionOf(before)
      // One that had not been declared was the client's own, as is one that is not learned yet.
      if (was === null ? !isDeclared(now) : isDeclared(was)) found.push(name)
    }
    return found
  }
  /** What answered as itself beside the agent's own model, in the same session: no Version of that one. */
  const isOfAnotherModel = async (id: VersionId, own: VersionId): Promise<boolean> => {
    const [other, ours] = [asWeights((await versionOf(id))?.value), asWeights((await versionOf(own))?.value)]
    return other !== null && ours !== null && (other.base !== ours.base || other.baseHash !== ours.baseHash)
  }
  return async (trajectory) => {
    const acted = actedIn(trajectory)
    for (const [name, ids] of acted) {
      if (name === parameter) continue
      const own = serving[name]
      const others = [...ids].filter((id) => id !== own)
      if (others.length === 0) continue
      if (own === undefined || !ids.has(own)) return false
      for (const id of others) if (!(await isOfAnotherModel(id, own))) return false
    }
    const release = trajectory.origin.kind === 'traffic' ? trajectory.origin.servedBy?.release : undefined
    if (release === undefined || release === current?.release) return true
    const since = began.get(release) ?? changedSince(release)
    began.set(release, since)
    return !(await since).some((name) => !acted.has(name))
  }
}

const isDeclared = ({ run, parents }: Version) => run === null && parents.length === 0
