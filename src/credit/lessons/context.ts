import {
  actedIn,
  type ParameterName,
  type ReleaseId,
  type Repositories,
  type Trajectory,
  type VersionId,
  type VersionSet,
} from '../../core/index.ts'

/** Tells whether what a Parameter decided in a trajectory was decided in today's context. */
export type IsInContext = (trajectory: Trajectory) => Promise<boolean>

/**
 * Holds what acted in trajectories beside a Parameter against what serves now: its samples are evidence of how it does today
 * where every other Parameter that acted has the Version that serves. What was sampled under another prompt, or other
 * memories, may be learned from as what people showed, but is no sample of the policy that serves: its tokens' probabilities
 * would have to be computed again under today's context, which nothing here does.
 *
 * Records of before initial texts were decisions do not name them. Where a text serves that was learned, and the session
 * began under one that was not, a trajectory that names none had another.
 */
export async function todaysContext(
  { releases, versions }: Pick<Repositories, 'releases' | 'versions'>,
  agent: string,
  parameter: ParameterName,
): Promise<IsInContext> {
  const current = await releases.current(agent)
  const serving: VersionSet = (current && (await releases.get(current.release))?.versions) ?? {}
  const declared = new Map<VersionId, Promise<boolean>>()
  const isDeclared = (id: VersionId) => {
    const known =
      declared.get(id) ?? versions.get(id).then((found) => found?.run === null && found.parents.length === 0)
    declared.set(id, known)
    return known
  }
  const began = new Map<ReleaseId, Promise<readonly ParameterName[]>>()
  /** Texts that a release had as they were declared, and that serve as they were learned. */
  const learnedSince = async (release: ReleaseId): Promise<readonly ParameterName[]> => {
    const found: ParameterName[] = []
    for (const [name, id] of Object.entries((await releases.get(release))?.versions ?? {})) {
      const now = serving[name]
      if (name === parameter || now === undefined || now === id) continue
      if ((await isDeclared(id)) && !(await isDeclared(now))) found.push(name)
    }
    return found
  }
  return async (trajectory) => {
    const acted = actedIn(trajectory)
    for (const [name, ids] of acted) {
      if (name !== parameter && [...ids].some((id) => id !== serving[name])) return false
    }
    const release = trajectory.origin.kind === 'traffic' ? trajectory.origin.servedBy?.release : undefined
    if (release === undefined || release === current?.release) return true
    const since = began.get(release) ?? learnedSince(release)
    began.set(release, since)
    return !(await since).some((name) => !acted.has(name))
  }
}
