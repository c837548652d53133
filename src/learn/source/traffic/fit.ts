import type { AnyKind, DecisionId, ParameterName, Trajectory, TrajectoryNode } from '../../../core/index.ts'

/**
 * Why a decision may not be learned from. `repeated`: the client's SDK asked again and never saw it. `other-temperature`:
 * most of the batch was drawn at another one, and a trainer computes one at a time. `unreadable`: its Kind's schema refuses
 * what it holds, as one of before the schema changed.
 */
export type Unfit = 'no-logprobs' | 'truncated' | 'greedy' | 'repeated' | 'other-temperature' | 'unreadable'

/** Decisions that can be learned from: tokens that a trainer can reproduce (invariant 2), at the temperature of each. */
export interface Fit {
  readonly temperatures: ReadonlyMap<DecisionId, number>
  /** Why the first of the others is not; `null` when there is none. */
  readonly unfit: Unfit | null
}

/** Sorts out what a Parameter decided that samples no tokens: what its Kind can read fits, at a temperature that is no matter. */
export const readableBy =
  ({ made: schema }: Pick<AnyKind, 'made'>) =>
  ({ decisions }: Pick<Trajectory, 'decisions'>, parameter: ParameterName): Fit => {
    const own = decisions.filter((decision) => decision.parameter === parameter)
    const readable = own.filter(({ made }) => schema.safeParse(made ?? null).success)
    return {
      temperatures: new Map(readable.map(({ id }) => [id, 1])),
      unfit: readable.length < own.length ? 'unreadable' : null,
    }
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
