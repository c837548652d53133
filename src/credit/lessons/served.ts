import type { NodeId, ParameterName, ReleaseRepository, Trajectory, VersionId } from '../../core/index.ts'

/** For each Version of a Parameter that ever served an agent, how many activations ago it last did; 0: it serves now. */
export type Lags = ReadonlyMap<VersionId, number>

/** Reads the lags from the history of what served. */
export async function lagsOf(
  releases: Pick<ReleaseRepository, 'activations' | 'get'>,
  agent: string,
  parameter: ParameterName,
): Promise<Lags> {
  const history = await releases.activations(agent)
  const now = history.at(-1)?.generation ?? 0
  const lags = new Map<VersionId, number>()
  for (const { release, generation } of history) {
    const version = (await releases.get(release))?.versions[parameter]
    if (version !== undefined) lags.set(version, now - generation)
  }
  return lags
}

/** Whether a Parameter's weights said what a node holds: other models behind the same gateway answer too. */
export function isSaidBy({ decisions }: Trajectory, node: NodeId, parameter: ParameterName): boolean {
  return decisions.some((made) => made.output === node && made.parameter === parameter)
}

/** Why what a Parameter decided in a trajectory is no evidence of how what serves does. */
export type NotServing = 'not-served' | 'candidate-arm' | 'stale'

/**
 * How many activations ago the oldest Version of a Parameter served that decided in a trajectory. A canary's candidate never
 * served, unless it was promoted since: then it is what serves now.
 */
export function lagOf(
  { decisions, origin }: Trajectory,
  parameter: ParameterName,
  lags: Lags,
  maxLag: number,
): number | NotServing {
  const made = decisions.filter((decision) => decision.parameter === parameter)
  if (made.length === 0) return 'not-served'
  const known = made.map(({ version }) => lags.get(version))
  if (known.includes(undefined)) {
    const arm = origin.kind === 'traffic' ? origin.servedBy?.canary?.arm : undefined
    return arm === 'candidate' ? 'candidate-arm' : 'stale'
  }
  const lag = Math.max(...known.map((one) => one ?? 0))
  return lag <= maxLag ? lag : 'stale'
}
