import type { DecisionId, ParameterName, Trajectory, TrajectoryNode } from '../../../core/index.ts'

/**
 * Why a decision's tokens may not enter a policy gradient. `repeated`: the client's SDK asked again and never saw it.
 * `other-temperature`: most of the batch was drawn at another one, and a trainer computes one at a time.
 */
export type Unfit = 'no-logprobs' | 'truncated' | 'greedy' | 'repeated' | 'other-temperature'

/** Decisions whose tokens a trainer can reproduce (invariant 2), with the temperature that each was drawn at. */
export interface Fit {
  readonly temperatures: ReadonlyMap<DecisionId, number>
  /** Why the first of the others is not; `null` when there is none. */
  readonly unfit: Unfit | null
}

/** What a Parameter decided that samples no tokens: all of it fits, at a temperature that is no matter. */
export function decidedOf({ decisions }: Trajectory, parameter: ParameterName): Fit {
  const own = decisions.filter((decision) => decision.parameter === parameter)
  return { temperatures: new Map(own.map(({ id }) => [id, 1])), unfit: null }
}

/** Sorts out what weights decided in a trajectory. */
export function fitOf({ nodes, steps, decisions }: Trajectory, parameter: ParameterName): Fit {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const calls = steps.flatMap(({ call }) => (call ? [call] : []))
  const repeated = new Set(calls.map(({ retryOf }) => retryOf))
  const callOf = new Map(steps.map(({ action, call }) => [action, call?.id ?? null]))
  const temperatures = new Map<DecisionId, number>()
  let unfit: Unfit | null = null
  for (const { id, parameter: by, output } of decisions) {
    if (by !== parameter || output === null) continue
    const call = callOf.get(output) ?? null
    const drawn = call !== null && repeated.has(call) ? 'repeated' : drawnAt(byId.get(output))
    if (typeof drawn === 'number') temperatures.set(id, drawn)
    else unfit ??= drawn
  }
  return { temperatures, unfit }
}

function drawnAt(node: TrajectoryNode | undefined): number | Unfit {
  let temperature: number | null = null
  for (const span of node?.spans ?? []) {
    if (span.kind !== 'sampled') continue
    if (span.sampling.truncated) return 'truncated'
    if (span.sampling.temperature === 0) return 'greedy'
    if (span.behaviourLogprobs === null) return 'no-logprobs'
    temperature ??= span.sampling.temperature
  }
  return temperature ?? 'no-logprobs'
}

/** The temperature that most decisions were drawn at; the lower of two that are equally common. */
export function commonTemperature(fits: Iterable<Pick<Fit, 'temperatures'>>): number | null {
  const counts = new Map<number, number>()
  for (const { temperatures } of fits) {
    for (const temperature of temperatures.values()) counts.set(temperature, (counts.get(temperature) ?? 0) + 1)
  }
  const [most] = [...counts].toSorted(([a, m], [b, n]) => n - m || a - b)
  return most?.[0] ?? null
}
