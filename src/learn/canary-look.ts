import { type CanaryId, type Clock, type Store, systemClock, type Tenant } from '../core/index.ts'
import { type CanaryGate, canaryGate } from '../gate/index.ts'
import { type CanaryMemory, type Looked, newCanaryMemory, Registry, watchCanary } from '../release/index.ts'
import { defaultGuardTolerances, guardMetrics, trafficRubric } from '../reward/index.ts'
import { promotedByHand } from './traffic/by-hand.ts'
import type { LearnFromTrafficConfig } from './traffic/config.ts'

/** The gate of a configuration's canaries; its guards are the metrics of sessions, where it names none. */
export function canaryGateFrom({ canary }: Pick<LearnFromTrafficConfig, 'canary'>): CanaryGate {
  const named = Object.keys(canary.guards).length > 0
  return canaryGate(named ? canary : { ...canary, guards: metrics })
}

/** What upstreams do not always tell would keep a canary from ever being covered. */
const { cost: _, ...told } = defaultGuardTolerances
const metrics = Object.fromEntries(
  Object.entries(told).map(([name, { tolerance, range }]) => [name, { tolerance, range: pair(range) }]),
)

function pair([low, high]: readonly [number, number]): [number, number] {
  return [low, high]
}

/** What looking at an agent's canaries takes. */
export interface LookParts {
  readonly store: Store
  readonly tenant: Tenant
  readonly config: LearnFromTrafficConfig
  readonly clock?: Clock
  /** Told of sessions that could not be scored: they count as missing. */
  readonly onProblem?: (error: unknown) => void
}

/**
 * Makes what looks at a canary and does what its gate says.
 * @param promotes `gate`: the promotion as well, as for who asks for it (`ratchet promote`) and in the mode `automatic`;
 * `hand`: all but the promotion, which a person is left to ask for.
 */
export function canaryLook(
  { store, tenant, config, clock = systemClock, onProblem }: LookParts,
  promotes: 'gate' | 'hand',
): (canary: CanaryId) => Promise<Looked> {
  const registry = new Registry(store)
  const own = canaryGateFrom(config)
  const gate = promotes === 'gate' ? own : promotedByHand(own)
  const rubric = trafficRubric(config.rubric)
  let known: { readonly canary: CanaryId; readonly memory: CanaryMemory } | null = null
  return (canary) => {
    if (known?.canary !== canary) known = { canary, memory: newCanaryMemory() }
    return watchCanary({
      store,
      registry,
      canary,
      gate,
      rubric,
      guardMetrics: (trajectory, signals, asOf) => ({ ...guardMetrics(trajectory, signals, asOf) }),
      settleMs: config.judgeAfter,
      tenant,
      memory: known.memory,
      clock,
      ...(onProblem ? { onProblem } : {}),
    })
  }
}
