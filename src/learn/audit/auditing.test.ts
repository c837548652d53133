import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { agent, base, model, prompt, sessionCall, setOf, thumb } from '../../../test/support/canary-parts.ts'
import { unguarded } from '../../../test/support/audited-canary.ts'
import { type Canary, KeyId, type Store } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { replay } from '../../gate/index.ts'
import { calibrationOf, Registry } from '../../release/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { canaryGateFrom, canaryLook } from '../canary-look.ts'
import type { LearnerEvent } from '../learner/events.ts'
import { LearnFromTrafficConfig } from '../source/traffic/config.ts'
import { auditFrom } from '../source/traffic/audit-config.ts'
import { auditing } from './auditing.ts'
import { auditor } from './auditor.ts'
import type { AuditVerifier } from './verifier.ts'

let store: Store
let registry: Registry
let canary: Canary
let now: number
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
  now = 10
})
afterEach(() => store.close())

const clock = { now: () => now }
const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 99_999 }
const configOf = (audit: object) =>
  LearnFromTrafficConfig.parse({
    judgeAfter: '1s',
    rubric: { implicit: false, guards: unguarded },
    reporters: { share: 1, trusted: ['k'] },
    canary: { shares: [0.5], sessionsPerStep: 10, guards: false, missing: 'neutral', missingTolerance: 0.1 },
    audit: { share: 1, queue: 500, ...audit },
  })

/** Sessions of both arms by turns, which people take alike unless it is said, and their draws. */
async function sessions(config: LearnFromTrafficConfig, count: number, taken: (i: number) => number = () => 1) {
  const gate = canaryGateFrom(config)
  const versions = [prompt('better')]
  canary = await registry.startCanary({
    agent,
    versions,
    admission: null,
    run: null,
    gate,
    salt: 'of the tests',
    at: now,
  })
  await registry.keepWatched(canary.id, { at: now, forMs: 99_000_000 })
  for (let i = 0; i < count; i++) {
    const served = { release: canary.baseline, canary: { id: canary.id, arm: armOf(i), propensity: 0.5 } } as const
    now += 1
    await store.traffic.append(sessionCall(`t_${i}`, served, { at: now }))
    await store.signals.append([{ ...thumb(`t_${i}`, taken(i), now), reporter: `user ${i}` }], { caps, now })
  }
  now += 1_000
  const look = canaryLook({ store, tenant: 'default', config, clock }, 'gate')
  await look(canary.id)
  return { look: () => look(canary.id), draws: await store.audits.drawn(canary.id) }
}
const armOf = (i: number) => (i % 2 === 0 ? 'candidate' : 'baseline')
const label = (draw: string, truth: number | null, reviewer = 'k_1:ann') =>
  store.audits.label({ tenant: 'default', draw, reviewer, by: 'person', truth, note: '', at: now })
const byArm = (sequence: number, truths: { readonly candidate: number; readonly baseline: number }) =>
  truths[armOf(sequence)]

describe('a canary that people audit', () => {
  it('is promoted by truth; when its labels are taken back, the release goes back with a receipt', async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 120)
    expect(draws).toHaveLength(120)
    expect(await look()).toMatchObject({
      canary: { status: 'running' },
      verdict: { evidence: { truth: { waiting: 120 } } },
    })
    for (const { id, sequence } of draws) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    const { release } = await look()
    const promoted = present(await store.receipts.get(present(release, 'the release').receipt as never), 'the receipt')
    expect(promoted.evidence).toMatchObject({ basis: 'audited' })
    expect(replay(promoted)).toBe('promote')

    const events: LearnerEvent[] = []
    const audits = auditing(
      { store, tenant: 'default', config, clock, onEvent: (event) => events.push(event) },
      agent,
      registry,
    )
    await audits.reopen()
    expect(events).toEqual([])
    now += 5
    expect(await store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_1'), at: now })).toBe(120)
    await audits.reopen()
    expect(events).toMatchObject([{ type: 'reopened', canary: canary.id, release: canary.baseline }])
    expect((await registry.current(agent)).release.versions).toEqual(setOf(model, base))
    const [alert] = await store.alerts.list({ agent, kind: 'rollback', limit: 1 })
    const receipt = present(await store.receipts.get(alert?.evidence['receipt'] as never), 'the later receipt')
    expect(replay(receipt)).toBe('need_more_evidence')
    expect(alert?.message).toContain('Labels that its promotion rested on were changed or taken back')
    expect((await store.canaries.events(canary.id)).at(-1)).toMatchObject({ type: 'rolled-back', share: 0 })
    await audits.reopen()
    expect(events).toHaveLength(1)
  })

  it("goes back by Goodhart's law where people take it and it is no better: told, and what paid counts less", async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 160, (i) => (armOf(i) === 'candidate' ? 1 : -1))
    for (const { id, sequence } of draws) await label(id, (sequence >> 1) % 2)
    const { canary: ended } = await look()
    expect(ended.status).toBe('rolled-back')
    const [alert] = await store.alerts.list({ agent, kind: 'rollback', limit: 1 })
    expect(alert?.message).toMatch(/Goodhart's law: .*What paid it more: thumbs by 2\.0\./)
    const receipt = present(await store.receipts.get(present(ended.receipt, 'the receipt')), 'the receipt')
    expect(replay(receipt)).toBe('reject')
    const { signals } = await calibrationOf(store, agent, { range: [-1, 1], rubric: null }, now)
    expect(signals).toMatchObject([{ signal: 'thumbs', labels: 160, present: 160 }])
    expect(signals[0]?.factor).toBeLessThan(0.1)
  })

  it('is promoted on what was looked at: a label that comes between look and receipt is the next look’s', async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 120)
    for (const { id, sequence } of draws) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    const pinned = store.releases.pinned.bind(store.releases)
    vi.spyOn(store.releases, 'pinned').mockImplementationOnce(async (name) => {
      for (const { id, sequence } of draws) await label(id, byArm(sequence, { candidate: 0, baseline: 1 }))
      await store.trajectories.remove({ origin: 'traffic' }, { dryRun: false })
      return pinned(name)
    })
    const { release } = await look()
    const receipt = present(await store.receipts.get(present(release, 'the release').receipt as never), 'the receipt')
    expect(replay(receipt)).toBe('promote')
    const { sessions: kept } = receipt as Extract<typeof receipt, { readonly sessions: unknown }>
    expect(kept.map(({ trajectory }) => trajectory)).toEqual(draws.map(({ sequence }) => `erased-${sequence}`))
    await auditing({ store, tenant: 'default', config, clock }, agent, registry).reopen()
    expect((await registry.current(agent)).release.id).toBe(canary.baseline)
  })

  it('stays where one of many labels is contradicted or taken back: the others go on counting', async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 120)
    const [first, ...others] = draws
    await label(present(first, 'a draw').id, 1, 'k_9')
    for (const { id, sequence } of others) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    expect((await look()).canary.status).toBe('promoted')
    const audits = auditing({ store, tenant: 'default', config, clock }, agent, registry)
    await label(present(first, 'a draw').id, 0, 'k_8')
    await audits.reopen()
    expect((await registry.current(agent)).release.id).not.toBe(canary.baseline)
    for (const key of ['k_8', 'k_9']) await store.audits.withdraw({ tenant: 'default', key: KeyId.parse(key), at: now })
    await audits.reopen()
    expect((await registry.current(agent)).release.id).not.toBe(canary.baseline)
    await store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_1'), at: now })
    await audits.reopen()
    expect((await registry.current(agent)).release.id).toBe(canary.baseline)
  })

  it('stays while it is pinned, which is told once; it goes back when the pin is gone', async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 120)
    for (const { id, sequence } of draws) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    const promoted = present((await look()).release, 'the release').id
    await registry.pin(agent, 'a demonstration')
    await store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_1'), at: now })
    const audits = auditing({ store, tenant: 'default', config, clock }, agent, registry)
    for (let i = 0; i < 2; i++) {
      await audits.reopen()
      now += 3_600_000
    }
    expect((await registry.current(agent)).release.id).toBe(promoted)
    const told = (await store.alerts.list({ agent, kind: 'audit', limit: 9 })).filter(({ name }) => name === canary.id)
    expect(told.map(({ message }) => message)).toEqual([expect.stringContaining('which is pinned and stays')])
    await registry.unpin(agent)
    await audits.reopen()
    expect((await registry.current(agent)).release.id).toBe(canary.baseline)
  })

  it('reads the sessions of what was promoted again only where something was said', async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 120)
    for (const { id, sequence } of draws.slice(0, -1)) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    expect((await look()).canary.status).toBe('promoted')
    const read = vi.spyOn(store.canaries, 'judged')
    const audits = auditing({ store, tenant: 'default', config, clock }, agent, registry)
    for (let i = 0; i < 3; i++) await audits.reopen()
    expect(read).toHaveBeenCalledTimes(1)
    await label(draws.at(-1)?.id ?? '', 1)
    for (let i = 0; i < 3; i++) await audits.reopen()
    expect(read).toHaveBeenCalledTimes(2)
  })

  it('finds nothing to look at again where nothing was released, or only what the agent began with serves', async () => {
    const config = configOf({ by: 'person' })
    for (const name of ['nobody', agent]) {
      const events: LearnerEvent[] = []
      const onEvent = (event: LearnerEvent) => events.push(event)
      await auditing({ store, tenant: 'default', config, clock, onEvent }, name, registry).reopen()
      expect(events).toEqual([])
    }
  })

  it('goes back when labels that came after the promotion show a harm', async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 400)
    for (const { id, sequence } of draws.slice(0, 60)) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    expect(await look()).toMatchObject({ canary: { status: 'promoted' } })
    const audits = auditing({ store, tenant: 'default', config, clock }, agent, registry)
    for (const { id, sequence } of draws.slice(60)) await label(id, byArm(sequence, { candidate: 0, baseline: 1 }))
    await audits.reopen()
    expect((await registry.current(agent)).release.id).toBe(canary.baseline)
    const [alert] = await store.alerts.list({ agent, kind: 'rollback', limit: 1 })
    expect(replay(await store.receipts.get(alert?.evidence['receipt'] as never))).toBe('reject')
  })

  it('waits and tells, once, while nobody judges: no promotion, and it goes on serving', async () => {
    const config = configOf({ by: 'person', patience: '1d' })
    const { look } = await sessions(config, 60)
    const audits = auditing({ store, tenant: 'default', config, clock }, agent, registry)
    await audits.look(canary)
    expect(await store.alerts.list({ kind: 'audit', limit: 9 })).toEqual([])
    now += 86_400_000
    for (let i = 0; i < 2; i++) await audits.look(canary)
    const alerts = await store.alerts.list({ kind: 'audit', limit: 9 })
    expect(alerts).toMatchObject([{ name: canary.id, agent }])
    expect(alerts[0]?.message).toMatch(/the oldest of 60 draws has waited .* Nothing is promoted .* serving goes on/)
    expect((await look()).canary.status).toBe('running')
  })

  it('tells of a reviewer who says the same of everything; such labels promote nothing', async () => {
    const config = configOf({ by: 'person' })
    const { look, draws } = await sessions(config, 60)
    for (const { id } of draws) await label(id, 1)
    await auditing({ store, tenant: 'default', config, clock }, agent, registry).look(canary)
    const alerts = await store.alerts.list({ kind: 'audit', limit: 9 })
    expect(alerts).toMatchObject([{ name: 'k_1:ann', evidence: { labels: 60, mean: 1 } }])
    expect((await look()).canary.status).toBe('running')
  })

  it('counts the names of a key as people where its owner trusts the key, as everywhere', async () => {
    const { look, draws } = await sessions(configOf({ by: 'person', reviewers: 2 }), 20)
    const [first, second] = draws.map(({ id }) => id)
    for (const name of ['ann', 'bob']) {
      await label(first ?? '', 1, `k:${name}`)
      await label(second ?? '', 1, `k_1:${name}`)
    }
    expect((await look()).verdict?.evidence).toMatchObject({ truth: { waiting: 19 } })
  })

  it('draws no more than may wait', async () => {
    const { draws } = await sessions(configOf({ by: 'person', queue: 7 }), 40)
    expect(draws.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 3, 4, 5, 6])
  })
})

describe('a canary that a program audits', () => {
  const judgedBy = async (verifier: AuditVerifier, looks = 1, count = 24) => {
    const config = configOf({ by: 'verifier' })
    const { look } = await sessions(config, count)
    const problems: unknown[] = []
    const judging = auditor({
      store,
      tenant: 'default',
      audit: present(auditFrom(config.audit, []), 'the audit'),
      verifier,
      limits: { timeoutMs: 20, tries: 2, concurrency: 100 },
      clock,
      onProblem: (error) => problems.push(error),
    })
    for (let i = 0; i < looks; i++) {
      await judging.look(canary)
      await judging.idle()
    }
    const labels = (await store.audits.drawn(canary.id)).flatMap((draw) => draw.labels)
    return { look, labels, problems, judging }
  }

  it('has what the program says', async () => {
    const { labels } = await judgedBy(({ trajectory }) => Number(trajectory.id.slice(2)) % 2 === 0)
    expect(labels).toHaveLength(24)
    expect(labels.filter(({ truth }) => truth === 1)).toHaveLength(12)
  })

  it.each<[string, AuditVerifier]>([
    ['throws', () => Promise.reject(new Error('no'))],
    [
      'throws at once',
      () => {
        throw new Error('no')
      },
    ],
    ['never answers', () => new Promise<never>(() => {})],
    ['says nonsense', () => 7],
  ])('takes its word as missing, never as 0, where it %s, and asks again before', async (_, verifier) => {
    const once = await judgedBy(verifier, 1)
    expect(once.labels).toEqual([])
    expect(once.problems).toHaveLength(24)
    await once.judging.look(canary)
    await once.judging.idle()
    const labels = (await store.audits.drawn(canary.id)).flatMap((draw) => draw.labels)
    expect(labels.map(({ truth }) => truth)).toEqual(Array.from({ length: 24 }, () => null))
    await once.judging.look(canary)
    const [alert] = await store.alerts.list({ kind: 'audit', limit: 1 })
    expect(alert?.message).toContain('of the last 24 draws the truth is missing')
    expect((await once.look()).canary.status).toBe('running')
  })

  it('needs one: a configuration alone cannot hold it', () => {
    const config = configOf({ by: 'verifier' })
    expect(() => auditing({ store, tenant: 'default', config, clock }, agent, registry)).toThrow(
      expect.objectContaining({ code: 'learn/no-verifier' }),
    )
  })
})

describe('a canary that a judge audits', () => {
  const labels = { share: 0.5, by: 'person' } as const
  /** The judge is asked about all until it has said something of each, or was tried out. */
  async function judgedBy(judge: AuditVerifier, audit: object = { labels }, count = 160) {
    const config = configOf({ by: 'judge', ...audit })
    const { look, draws } = await sessions(config, count)
    const limits = { timeoutMs: 20, tries: 2, concurrency: 500 }
    const rules = present(auditFrom(config.audit, []), 'the audit')
    const judging = auditor({ store, tenant: 'default', audit: rules, judge, limits, clock })
    for (let i = 0; i < 3; i++) {
      await judging.look(canary)
      await judging.idle()
    }
    const words = async () => (await store.audits.forJudge(canary.id)).flatMap(({ labels: said }) => said)
    const alerts = async () => (await store.alerts.list({ kind: 'audit', limit: 9 })).map(({ message }) => message)
    return { config, look, draws, judging, words, alerts }
  }
  const right = ({ trajectory: { id } }: { readonly trajectory: { readonly id: string } }) =>
    byArm(Number(id.slice(2)), { candidate: 1, baseline: 0 })

  it('is promoted by labels of a part, with what the judge said of all in the evidence', async () => {
    const { look, draws, words } = await judgedBy(right)
    expect(await words()).toHaveLength(160)
    expect(draws.length).toBeGreaterThan(50)
    expect(draws.length).toBeLessThan(110)
    expect((await look()).canary.status).toBe('running')
    for (const { id, sequence } of draws) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    const { release } = await look()
    const receipt = present(await store.receipts.get(present(release, 'the release').receipt as never), 'the receipt')
    expect(receipt.evidence).toMatchObject({
      basis: 'audited',
      truth: { judge: { asked: 160, unreadable: 0, correlation: 1 }, correlation: null },
    })
    expect(replay(receipt)).toBe('promote')
  })

  it('is not promoted by the judge, whatever it says, where people say otherwise', async () => {
    const { look, draws } = await judgedBy(right)
    for (const { id, sequence } of draws) await label(id, (sequence >> 1) % 2)
    expect((await look()).canary.status).toBe('running')
  })

  it('promotes nothing alone, and says what to do; as behaviour-only where its owner says so', async () => {
    const { look, words } = await judgedBy(right, {})
    expect(await words()).toHaveLength(160)
    const { verdict, canary: after } = await look()
    expect(after.status).toBe('running')
    expect(verdict?.evidence).toMatchObject({ basis: null })
    expect(verdict?.reasons.join(' ')).toContain('A judge alone promotes nothing')
    const told = (await store.alerts.list({ kind: 'audit', limit: 9 })).map(({ message }) => message)
    expect(told.filter((message) => message.startsWith('Only a judge says what is true'))).toEqual([
      expect.stringMatching(/So it promotes nothing.*"labels": .*ratchet audit next/),
    ])
  })

  it.each<[string, AuditVerifier]>([
    ['throws', () => Promise.reject(new Error('no'))],
    ['says nothing that can be read', () => null],
  ])('goes on by labels alone where it %s, which is counted and told', async (_, judge) => {
    const { look, draws, judging, words, alerts } = await judgedBy(judge)
    expect((await words()).map(({ truth }) => truth)).toEqual(Array.from({ length: 160 }, () => null))
    await judging.look(canary)
    expect(await alerts()).toEqual([expect.stringContaining('The judge of the audit tells nothing')])
    expect((await look()).canary.status).toBe('running')
    for (const { id, sequence } of draws) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    const { canary: after, verdict } = await look()
    expect(verdict?.evidence).toMatchObject({ truth: { judge: { asked: 160, unreadable: 160, correlation: null } } })
    expect(after.status).toBe('promoted')
  })

  it('tells of one that says the same of everything, and of one that is not there', async () => {
    const { alerts } = await judgedBy(() => 1)
    expect(await alerts()).toEqual([expect.stringContaining('The judge of the audit said the same of all 160')])
    const config = configOf({ by: 'judge', labels })
    expect(() => auditing({ store, tenant: 'default', config, clock }, agent, registry)).toThrow(
      expect.objectContaining({ code: 'learn/no-judge' }),
    )
  })

  it('waits for it until its time is over, and tells; then labels count without it', async () => {
    const config = configOf({ by: 'judge', labels: { share: 1, by: 'person' }, patience: '1d' })
    const { look, draws } = await sessions(config, 120)
    for (const { id, sequence } of draws) await label(id, byArm(sequence, { candidate: 1, baseline: 0 }))
    expect(await look()).toMatchObject({
      canary: { status: 'running' },
      verdict: { evidence: { truth: { gain: { eValue: 1 } } } },
    })
    now += 86_400_001
    const rules = present(auditFrom(config.audit, []), 'the audit')
    await auditor({ store, tenant: 'default', audit: rules, clock }).look(canary)
    const [alert] = await store.alerts.list({ kind: 'audit', limit: 9 })
    expect(alert?.message).toMatch(
      /The judge .* says nothing: 120 sessions wait .* Labels count without it.* serving goes on/,
    )
    // A word that comes too late changes nothing.
    await store.audits.label({
      tenant: 'default',
      draw: draws[0]?.id ?? '',
      reviewer: 'judge',
      by: 'judge',
      truth: 0,
      note: '',
      at: now,
    })
    const { canary: after, verdict } = await look()
    expect(after.status).toBe('promoted')
    expect(verdict?.evidence).toMatchObject({ truth: { waiting: 0, judge: { asked: 120, unreadable: 120 } } })
  })

  it('hides no truth after the promotion: labels that come then count without its word, and its words taken back take none', async () => {
    const known = 120
    const config = configOf({ by: 'judge', labels: { share: 1, by: 'person' }, queue: 5_000 })
    const { look, draws } = await sessions(config, 400)
    const word = { tenant: 'default', reviewer: 'judge', by: 'judge', note: '', at: now } as const
    for (const { id, sequence } of draws.slice(0, known)) {
      const truth = byArm(sequence, { candidate: 1, baseline: 0 })
      await label(id, truth)
      await store.audits.label({ ...word, draw: id, truth })
    }
    expect((await look()).canary.status).toBe('promoted')
    const audits = auditing({ store, tenant: 'default', config, clock, judge: right }, agent, registry)
    now += 5
    expect(await store.audits.withdraw({ tenant: 'default', key: KeyId.parse('judge'), at: now })).toBeGreaterThan(0)
    await audits.reopen()
    expect((await registry.current(agent)).release.id).not.toBe(canary.baseline)
    for (const { id, sequence } of draws.slice(known)) await label(id, byArm(sequence, { candidate: 0, baseline: 1 }))
    await audits.reopen()
    expect((await registry.current(agent)).release.id).toBe(canary.baseline)
    const [alert] = await store.alerts.list({ agent, kind: 'rollback', limit: 1 })
    expect(replay(await store.receipts.get(alert?.evidence['receipt'] as never))).toBe('reject')
  })

  it('is declared as a whole', () => {
    expect(() => configOf({ by: 'person', labels })).toThrow('leave labels out')
    expect(() => configOf({ by: 'verifier', judge: { model: 'm' } })).toThrow('leave judge out')
    expect(() => configOf({ by: 'judge', labels: { share: 0.1, by: 'judge' } })).toThrow()
    expect(() => configOf({ by: 'judge', labels, patience: '1s' })).toThrow('longer than judgeAfter')
    const risk = { canary: { promote: 'behaviour-only' } }
    const declared = (audit: object) =>
      LearnFromTrafficConfig.parse({ ...risk, audit: { share: 1, by: 'judge', ...audit } })
    expect(declared({}).canary.promote).toBe('behaviour-only')
    expect(() => declared({ labels })).toThrow('the audit decides')
    expect(auditFrom(configOf({ share: 0.5, by: 'judge', labels }).audit, [])).toMatchObject({
      share: 0.25,
      by: 'person',
      judge: { share: 0.5 },
    })
  })
})

describe('a canary that a program or outcomes audit', () => {
  it('has one judge: more could never come', () => {
    for (const change of [{ by: 'verifier' }, { by: 'outcome', outcome: { signal: 's', within: '1h', from: ['k'] } }]) {
      expect(() => configOf({ ...change, reviewers: 2 })).toThrow('only people can be several')
      expect(configOf(change).audit).toMatchObject({ reviewers: 1 })
    }
  })
})

describe('a canary that outcomes audit', () => {
  const outcome = { signal: 'resolved', within: '1h', from: ['k_ops'] }
  const report = (id: string, value: boolean | number, reporter: string, at: number, source = 'outcome' as const) =>
    store.signals.append(
      [{ ...thumb(id, 0, at), key: `${id} ${reporter} ${at}`, name: 'resolved', source, value, reporter }],
      { caps, now: at },
    )

  it('takes the last word of a trusted key within the time, and nothing else', async () => {
    const config = configOf({ by: 'outcome', outcome })
    await sessions(config, 6)
    await report('t_0', true, 'k_ops', now)
    await report('t_1', true, 'k_ops:crm', now)
    await report('t_1', false, 'k_ops:crm', now + 1)
    await report('t_2', true, 'k_other', now)
    await report('t_3', true, 'k_ops', now, 'user' as never)
    await report('t_4', true, 'k_ops', now + 3_700_000)
    const audits = auditing({ store, tenant: 'default', config, clock }, agent, registry)
    await audits.look(canary)
    expect((await store.audits.drawn(canary.id)).flatMap(({ labels }) => labels)).toEqual([])
    now += 3_600_000
    await audits.look(canary)
    const truths = (await store.audits.drawn(canary.id)).map(({ labels }) => labels[0]?.truth)
    expect(truths).toEqual([1, 0, null, null, null, null])
  })

  it('tells once that no truth comes, however many draws it goes on for', async () => {
    const config = configOf({ by: 'outcome', outcome })
    await sessions(config, 24)
    const audits = auditing({ store, tenant: 'default', config, clock }, agent, registry)
    const first = now - 1_000 - 24
    for (const settled of [9, 10, 12, 24]) {
      now = first + settled + 3_600_000
      await audits.look(canary)
      const draws = await store.audits.drawn(canary.id)
      expect(draws.filter(({ labels }) => labels.length > 0)).toHaveLength(settled)
      expect(await store.alerts.list({ kind: 'audit', limit: 9 })).toHaveLength(settled > 10 ? 1 : 0)
    }
  })

  it('must name the outcome', () => {
    expect(() => configOf({ by: 'outcome' })).toThrow('needs the outcome')
    expect(() => configOf({ by: 'person', outcome })).toThrow('needs the outcome')
  })
})
