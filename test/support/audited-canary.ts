import type { AuditSource, Canary, CanaryId, Store, Version } from '../../src/core/index.ts'
import { canaryGateFrom, canaryLook } from '../../src/learn/canary-look.ts'
import { LearnFromTrafficConfig } from '../../src/learn/source/traffic/config.ts'
import { Registry } from '../../src/release/index.ts'
import { openMemoryStore } from '../../src/store/index.ts'
import { agent, sessionCall, thumb } from './canary-parts.ts'

/** Guards would veto the sketched sessions. */
export const unguarded = {
  brokenCalls: false,
  noAnswer: false,
  repetition: false,
  questionsBack: false,
  inaction: false,
  overlong: false,
}

/** A learner's configuration whose canaries are audited; half of the sessions get the candidate. */
export const auditedConfig = (audit: object): LearnFromTrafficConfig =>
  LearnFromTrafficConfig.parse({
    mode: 'automatic',
    judgeAfter: '1s',
    rubric: { implicit: false, guards: unguarded },
    reporters: { share: 1, trusted: ['k'] },
    canary: { shares: [0.5], sessionsPerStep: 10, guards: false, missing: 'neutral', missingTolerance: 0.1 },
    audit: { share: 1, queue: 500, ...audit },
  })

/** Of the sessions of a canary by turns, which arm one has. */
export const armAt = (sequence: number) => (sequence % 2 === 0 ? 'candidate' : 'baseline')

const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 99_999 }

/** Where the canaries run, and a clock that their sessions move on. */
export interface AuditedParts {
  readonly store: Store
  readonly registry: Registry
  readonly config: LearnFromTrafficConfig
  readonly time: { now: number }
}

/** Where an agent serves these Versions and nothing was tried yet. */
export async function auditedParts(versions: readonly Version[]): Promise<Omit<AuditedParts, 'config'>> {
  const store = await openMemoryStore()
  const registry = new Registry(store)
  await registry.initial(agent, versions, 1)
  return { store, registry, time: { now: 10 } }
}

/** A canary of one candidate, whose sessions people take alike, each of both arms by turns. */
export async function auditedCanary(
  { store, registry, config, time }: AuditedParts,
  version: Version,
  count: number,
): Promise<{ readonly canary: Canary; readonly look: () => ReturnType<ReturnType<typeof canaryLook>> }> {
  const canary = await registry.startCanary({
    agent,
    versions: [version],
    admission: null,
    run: null,
    gate: canaryGateFrom(config),
    salt: `of ${version.id}`,
    at: time.now,
  })
  await registry.keepWatched(canary.id, { at: time.now, forMs: 99_000_000 })
  for (let i = 0; i < count; i++) {
    const served = { release: canary.baseline, canary: { id: canary.id, arm: armAt(i), propensity: 0.5 } } as const
    time.now += 1
    const session = `t_${canary.id}_${i}`
    await store.traffic.append(sessionCall(session, served, { at: time.now }))
    await store.signals.append([{ ...thumb(session, 1, time.now), reporter: `user ${i}` }], { caps, now: time.now })
  }
  time.now += 1_000
  const look = canaryLook({ store, tenant: 'default', config, clock: { now: () => time.now } }, 'gate')
  await look(canary.id)
  return { canary, look: () => look(canary.id) }
}

/** What one reviewer says of all draws of a canary from one on, by arm. */
export async function labelDraws(
  { store, time }: Pick<AuditedParts, 'store' | 'time'>,
  canary: CanaryId,
  said: {
    readonly candidate: number
    readonly baseline: number
    readonly reviewer?: string
    readonly from?: number
    readonly to?: number
    readonly by?: AuditSource
  },
): Promise<void> {
  const { reviewer = 'k_1:ann', from = 0, to, by = 'person' } = said
  for (const { id: draw, sequence } of (await store.audits.drawn(canary)).slice(from, to)) {
    const label = { tenant: 'default', draw, reviewer, by, note: '', at: time.now } as const
    await store.audits.label({ ...label, truth: said[armAt(sequence)] })
  }
}

/** Lets labels promote a candidate: those of the first draws speak for it. */
export async function promotedByLabels(
  parts: AuditedParts,
  version: Version,
  {
    sessions = 160,
    labels = 60,
    reviewer = 'k_1:ann',
    by = 'person',
  }: {
    readonly sessions?: number
    readonly labels?: number
    readonly reviewer?: string
    readonly by?: AuditSource
  } = {},
): Promise<Canary> {
  const { canary, look } = await auditedCanary(parts, version, sessions)
  await labelDraws(parts, canary.id, { candidate: 1, baseline: 0, to: labels, reviewer, by })
  const looked = await look()
  if (looked.canary.status !== 'promoted') throw new Error(`it is ${looked.canary.status}`)
  return looked.canary
}
