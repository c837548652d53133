import type { NodeId, ParameterName, Repositories, Trajectory, VersionId } from '../../core/index.ts'

/**
 * For Versions of a Parameter that served an agent of late, how many activations ago they last did; 0: it serves now.
 * Infinity: that of a canary's candidate which came to serve, longer ago than was asked.
 */
export type Lags = ReadonlyMap<VersionId, number>

/** Canaries that are looked through, at most: the newest. */
const mostCanaries = 100

/**
 * Reads the lags from the latest activations. What is read is bounded by `maxLag`, however long the agent's history is.
 * @param maxLag activations that a Version may have served ago, at most.
 */
export async function lagsOf(
  { releases, canaries }: Pick<Repositories, 'releases' | 'canaries'>,
  agent: string,
  parameter: ParameterName,
  maxLag: number,
): Promise<Lags> {
  const lags = new Map<VersionId, number>()
  for (const { status, candidate } of await canaries.list({ agent, limit: mostCanaries })) {
    const version = candidate[parameter]
    if (status === 'promoted' && version !== undefined) lags.set(version, Number.POSITIVE_INFINITY)
  }
  const recent = await releases.recent(agent, maxLag + 1)
  const now = recent[0]?.generation ?? 0
  for (const { release, generation } of recent.toReversed()) {
    const version = (await releases.get(release))?.versions[parameter]
    if (version !== undefined) lags.set(version, now - generation)
  }
  return lags
}

/** Whether a Parameter's weights said what a node holds: other models behind the same gateway answer too. */
export function isSaidBy({ decisions }: Trajectory, node: NodeId, parameter: ParameterName): boolean {
  return decisions.some((made) => made.output === node && made.parameter === parameter)
}

/** Whether one of these Parameters' weights said what a node holds. */
export function isSaidByAny({ decisions }: Trajectory, node: NodeId, parameters: readonly ParameterName[]): boolean {
  return decisions.some((made) => made.output === node && parameters.includes(made.parameter))
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
