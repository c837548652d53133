import { type CanaryId, type Clock, type Rubric, type Store, systemClock, type Tenant } from '../core/index.ts'
import { type CanaryGate, canaryGate } from '../gate/index.ts'
import { type CanaryMemory, type Looked, newCanaryMemory, Registry, watchCanary } from '../release/index.ts'
import { type Clarity, guardMetrics, signalPays, trafficRubric } from '../reward/index.ts'
import { practiceBefore } from './canary-practice.ts'
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
  return canaryGate(canaryConfigFrom(canary, auditFrom(audit, reporters.trusted), reporters.trusted))
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

/** What is kept of a canary from look to look. */
interface Watched {
  readonly canary: CanaryId
  readonly memory: CanaryMemory
  readonly rubric: Rubric
  /** By what practice its questions are judged. */
  readonly clarity: Clarity | null
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
  const gate = canaryGateFrom(config)
  // By the rubric that learning pays with, whatever practice a canary's questions are judged by.
  const { hash } = trafficRubric(config.rubric, config.reporters)
  const pays = { rubric: hash, of: signalPays(config.rubric, config.reporters) }
  const begin = async (canary: CanaryId): Promise<Watched> => {
    const began = await store.canaries.get(canary)
    const clarity = began
      ? await practiceBefore({ store, tenant, historyMs: config.driftHistory, reporters: config.reporters }, began)
      : null
    const rubric = trafficRubric(config.rubric, { ...config.reporters, ...(clarity && { clarity }) })
    return { canary, memory: newCanaryMemory(), rubric, clarity }
  }
  let known: Watched | null = null
  const look = async (canary: CanaryId) => {
    if (known?.canary !== canary) known = await begin(canary)
    const { memory, rubric, clarity } = known
    return watchCanary({
      store,
      registry,
      canary,
      gate,
      ...(promotes === 'hand' && { through: promotedByHand }),
      rubric,
      guardMetrics: (trajectory, signals, asOf) => ({
        ...guardMetrics(trajectory, signals, asOf, clarity ? { clarity } : {}),
      }),
      ...(config.audit === false ? {} : { signalPays: pays }),
      judgeAfterMs: config.judgeAfter,
      reporters: config.reporters,
      tenant,
      memory,
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
