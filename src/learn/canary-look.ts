import { type CanaryId, type Clock, type Store, systemClock, type Tenant } from '../core/index.ts'
import { type CanaryGate, canaryGate } from '../gate/index.ts'
import { type CanaryMemory, type Looked, newCanaryMemory, Registry, watchCanary } from '../release/index.ts'
import { guardMetrics, signalPays, trafficRubric } from '../reward/index.ts'
import { promotedByHand } from './source/traffic/by-hand.ts'
import { auditFrom } from './source/traffic/audit-config.ts'
import { canaryConfigFrom } from './source/traffic/canary-config.ts'
import type { LearnFromTrafficConfig } from './source/traffic/config.ts'

/** The gate of a configuration's canaries. */
export function canaryGateFrom({
  canary,
  audit,
  reporters,
}: Pick<LearnFromTrafficConfig, 'canary' | 'audit' | 'reporters'>): CanaryGate {
  return canaryGate(canaryConfigFrom(canary, auditFrom(audit, reporters.trusted)))
}

const leastWatchedMs = 5_000

/** How long a look lets a canary go on serving: until another learner would have taken over, and some looks long. */
function watchedForMs({ lease, watchEvery }: LearnFromTrafficConfig): number {
  return Math.max(leastWatchedMs, lease, 3 * watchEvery)
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
 * @returns a function whose looks come one after the other, as they share what they read.
 */
export function canaryLook(
  { store, tenant, config, clock = systemClock, onProblem }: LookParts,
  promotes: 'gate' | 'hand',
): (canary: CanaryId) => Promise<Looked> {
  const registry = new Registry(store)
  const own = canaryGateFrom(config)
  const gate = promotes === 'gate' ? own : promotedByHand(own)
  const rubric = trafficRubric(config.rubric, config.reporters)
  const pays = signalPays(config.rubric, config.reporters)
  let known: { readonly canary: CanaryId; readonly memory: CanaryMemory } | null = null
  const look = (canary: CanaryId) => {
    if (known?.canary !== canary) known = { canary, memory: newCanaryMemory() }
    return watchCanary({
      store,
      registry,
      canary,
      gate,
      rubric,
      guardMetrics: (trajectory, signals, asOf) => ({ ...guardMetrics(trajectory, signals, asOf) }),
      ...(config.audit === false ? {} : { signalPays: pays }),
      judgeAfterMs: config.judgeAfter,
      reporters: config.reporters,
      tenant,
      memory: known.memory,
      watchedForMs: watchedForMs(config),
      clock,
      ...(onProblem ? { onProblem } : {}),
    })
  }
  let latest: Promise<unknown> = Promise.resolve()
  return (canary) => {
    const looked = latest.then(() => look(canary))
    latest = looked.catch(() => {})
    return looked
  }
}
