import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Canary, type CanaryArm, type Rubric, type ServedBy, type Store, TrajectoryId } from '../core/index.ts'
import { canaryGate } from '../gate/index.ts'
// What is passed in through ports is the real thing here, too.
import { guardMetrics, rubric, signal } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import {
  admissionOf,
  agent,
  base,
  model,
  prompt,
  quickGate,
  rampGate,
  sessionCall,
  setOf,
  thumb,
} from '../../test/support/canary-parts.ts'
import { newCanaryMemory, Registry, watchCanary, type WatchOptions } from './index.ts'

const better = prompt('better')
const served = setOf(model, base)
const settleMs = 1_000

let store: Store
let registry: Registry
let canary: Canary
/** Sessions so far: each begins a millisecond after the one before. */
let count: number
let now: number
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
  count = 0
  now = 10
})
afterEach(() => store.close())

const begin = async (gate = quickGate, admission = false) => {
  canary = await registry.startCanary({
    agent,
    versions: [better],
    admission: admission ? admissionOf(served, setOf(model, better)) : null,
    run: null,
    gate,
    at: now,
  })
}

const thumbs: Rubric = rubric({ thumbs: signal('thumbs') })

const look = (options: Partial<WatchOptions> = {}) =>
  watchCanary({
    store,
    registry,
    canary: canary.id,
    rubric: thumbs,
    guardMetrics,
    settleMs,
    tenant: 'default',
    clock: { now: () => now },
    ...options,
  })

/** Records a session of an arm, what its user said, and returns its id. */
async function session(
  arm: CanaryArm,
  earned: number | null,
  { train = true, said = 10 }: { readonly train?: boolean; readonly said?: number } = {},
): Promise<string> {
  const id = `t_${count++}`
  now += 1
  const share = canary.shares[canary.step] ?? 1
  const propensity = arm === 'candidate' ? share : 1 - share
  const servedBy: ServedBy = { release: canary.baseline, canary: { id: canary.id, arm, propensity } }
  await store.traffic.append(sessionCall(id, servedBy, { at: now, train }))
  if (earned !== null) await store.signals.append([thumb(id, earned, now + said)])
  return id
}

/** Sessions of both arms by turns. */
async function sessions(n: number, earned: Readonly<Record<CanaryArm, number | null>>): Promise<void> {
  for (let i = 0; i < n; i++) {
    const arm = i % 2 === 0 ? 'candidate' : 'baseline'
    await session(arm, earned[arm])
  }
}

const settle = () => {
  now += settleMs
}
const types = async () => (await store.canaries.events(canary.id)).map(({ type }) => type)

describe('one look', () => {
  it('promotes a candidate that is better: the release says that its evidence is the canary’s alone', async () => {
    await begin()
    await sessions(100, { candidate: 1, baseline: 0 })
    settle()
    const looked = await look()
    expect(looked).toMatchObject({
      canary: { status: 'promoted', endedAt: now },
      verdict: { action: 'promote' },
      sessions: { candidate: 50, baseline: 50, unsettled: 0, withheld: 0 },
      release: { versions: setOf(model, better) },
      waits: null,
    })
    expect((await registry.current(agent)).release.id).toBe(looked.release?.id)
    const receipt = await store.receipts.get(looked.release!.receipt!)
    expect(receipt).toMatchObject({ canary: canary.id, admission: null, decision: 'promote' })
    expect(await look()).toMatchObject({ canary: { status: 'promoted' }, verdict: null })
  })

  it('keeps the admission in the receipt, where there was one', async () => {
    await begin(quickGate, true)
    await sessions(100, { candidate: 1, baseline: 0 })
    settle()
    const { release } = await look()
    expect(await store.receipts.get(release!.receipt!)).toMatchObject({ admission: canary.admission })
    expect(canary.admission).not.toBeNull()
  })

  it('takes a candidate back that is worse, and tells how many sessions had it', async () => {
    await begin()
    await sessions(100, { candidate: 0, baseline: 1 })
    settle()
    await session('candidate', null)
    await session('baseline', null)
    const looked = await look()
    expect(looked).toMatchObject({ canary: { status: 'rolled-back' }, verdict: { action: 'roll-back' } })
    const [alert] = await store.alerts.list({ agent, kind: 'rollback', limit: 1 })
    expect(alert?.message).toContain('went back after 51 sessions had it')
    expect(alert?.evidence).toMatchObject({ exposed: 51 })
    expect((await registry.current(agent)).release.versions).toEqual(served)
  })

  it('takes a candidate back for a guard, whatever it earns', async () => {
    const gate = canaryGate({
      shares: [0.5],
      sessionsPerStep: 1_000,
      maxSessions: 2_000,
      guards: { shouts: { tolerance: 0.02, range: [0, 1] } },
    })
    await begin(gate)
    await sessions(100, { candidate: 1, baseline: 1 })
    settle()
    const shouts = ({ origin }: { readonly origin: unknown }) =>
      (origin as { servedBy: ServedBy }).servedBy.canary?.arm === 'candidate' ? 1 : 0
    const { verdict, canary: after } = await look({
      gate,
      guardMetrics: (trajectory) => ({ shouts: shouts(trajectory) }),
    })
    expect(verdict?.reasons[0]).toContain('The guard shouts is higher')
    expect(after.status).toBe('rolled-back')
  })

  it('goes on to the next share, and counts its sessions from there', async () => {
    await begin(rampGate)
    await sessions(40, { candidate: 0.5, baseline: 0.5 })
    settle()
    const first = await look()
    expect(first).toMatchObject({ verdict: { action: 'advance' }, canary: { step: 1, stepAt: now } })
    canary = first.canary
    const second = await look()
    expect(second.verdict?.evidence).toMatchObject({ step: 1, sessionsInStep: 0 })
    await sessions(10, { candidate: 0.5, baseline: 0.5 })
    settle()
    expect((await look()).verdict?.evidence).toMatchObject({ sessionsInStep: 5 })
  })

  it('gives up a canary whose gate was configured anew', async () => {
    await begin(quickGate)
    await sessions(100, { candidate: 1, baseline: 0 })
    settle()
    const { canary: after } = await look({ gate: rampGate })
    expect(after).toMatchObject({ status: 'ended', reason: expect.stringContaining('configured otherwise now') })
    expect((await registry.current(agent)).release.versions).toEqual(served)
  })

  it('gives up a candidate that shows neither a gain nor a harm', async () => {
    const gate = canaryGate({ shares: [0.5], sessionsPerStep: 10, maxSessions: 20 })
    await begin(gate)
    await sessions(40, { candidate: 0.5, baseline: 0.5 })
    settle()
    expect(await look()).toMatchObject({ verdict: { action: 'give-up' }, canary: { status: 'ended' } })
    expect((await store.canaries.events(canary.id)).at(-1)?.evidence).toMatchObject({ exposed: 20 })
  })
})

describe('the evidence', () => {
  const given = async (options: Partial<WatchOptions> = {}) => {
    const seen = vi.spyOn(quickGate, 'look')
    const looked = await look({ gate: quickGate, ...options })
    const input = seen.mock.calls.at(-1)?.[0]
    seen.mockRestore()
    return { ...looked, input }
  }

  it('is the settled sessions of both arms in the order in which they began, with their propensities', async () => {
    await begin()
    await sessions(4, { candidate: 1, baseline: 0 })
    settle()
    await session('candidate', 1)
    const { input, sessions: counted } = await given()
    expect(input?.sessions.map(({ trajectory, arm, reward }) => [trajectory, arm, reward])).toEqual([
      ['t_0', 'candidate', 1],
      ['t_1', 'baseline', 0],
      ['t_2', 'candidate', 1],
      ['t_3', 'baseline', 0],
    ])
    expect(input?.sessions.every(({ propensity }) => propensity === 0.5)).toBe(true)
    expect(input).toMatchObject({ step: 0, sessionsInStep: 2, rewardRange: [0, 1] })
    expect(counted).toEqual({ candidate: 2, baseline: 2, unsettled: 1, withheld: 0 })
  })

  it('is what was known so long after a session began, for both arms, also when more is said later', async () => {
    await begin()
    await session('candidate', 1, { said: settleMs - 1 })
    await session('baseline', 1, { said: settleMs + 1 })
    settle()
    now += settleMs
    const { input } = await given()
    expect(input?.sessions.map(({ reward }) => reward)).toEqual([1, null])
  })

  it('has guard metrics, and a null for what is missing or cannot be scored', async () => {
    await begin()
    await session('candidate', null)
    await session('baseline', 1)
    settle()
    expect((await given()).input?.sessions[0]).toMatchObject({ reward: null, guards: { errors: 0, brokenCalls: 0 } })
    const problems: unknown[] = []
    const broken: Rubric = { ...thumbs, score: () => Promise.reject(new Error('broken')) }
    const { input } = await given({ rubric: broken, onProblem: (error) => problems.push(error) })
    expect(input?.sessions.map(({ reward, guards }) => [reward, guards])).toEqual([
      [null, {}],
      [null, {}],
    ])
    expect(problems).toHaveLength(2)
  })

  it('leaves out what may not be learned from, what another canary assigned, and what began before', async () => {
    await begin()
    await session('candidate', 1, { train: false })
    await session('baseline', 0)
    const servedBy: ServedBy = { release: canary.baseline, canary: null }
    await store.traffic.append(sessionCall('t_before', servedBy, { at: now }))
    settle()
    const { input, sessions: counted } = await given()
    expect(input?.sessions.map(({ trajectory }) => trajectory)).toEqual(['t_1'])
    expect(counted).toEqual({ candidate: 0, baseline: 1, unsettled: 0, withheld: 1 })
  })

  it('is read once: later looks read only what is new, and what was said since', async () => {
    await begin()
    const memory = newCanaryMemory()
    await sessions(6, { candidate: 0.5, baseline: 0.5 })
    settle()
    await look({ memory })
    const read = vi.spyOn(store.trajectories, 'get')
    const first = await given({ memory })
    expect(read).not.toHaveBeenCalled()
    // Told late, of what happened in time.
    await store.signals.append([{ ...thumb('t_1', 1, now - settleMs), key: 'late' }])
    const fresh = await session('candidate', 1)
    settle()
    const second = await given({ memory })
    expect(read.mock.calls.map(([id]) => id).toSorted()).toEqual(['t_1', fresh])
    expect(second.input?.sessions).toHaveLength((first.input?.sessions.length ?? 0) + 1)
    expect(second.input?.sessions).toEqual((await given()).input?.sessions)
    await store.trajectories.remove({ canary: canary.id }, { dryRun: false })
    expect((await given({ memory })).input?.sessions).toEqual([])
    expect(memory.sessions.size).toBe(0)
  })
})

describe('what stands in the way', () => {
  it('a pin lets a candidate go back, and holds it otherwise, with the reason', async () => {
    await begin()
    await registry.pin(agent, 'the fair')
    await sessions(100, { candidate: 1, baseline: 0 })
    settle()
    const memory = newCanaryMemory()
    const looked = await look({ memory })
    expect(looked).toMatchObject({ waits: 'What serves is pinned: the fair.', canary: { status: 'running' } })
    const [, held] = await store.canaries.events(canary.id)
    expect(held).toMatchObject({ type: 'held', reasons: expect.arrayContaining(['What serves is pinned: the fair.']) })
    await registry.unpin(agent)
    expect((await look({ memory })).canary.status).toBe('promoted')
  })

  it('a baseline that serves no more takes the candidate back', async () => {
    await begin()
    const activation = await store.releases.current(agent)
    await store.releases.put({
      ...(await store.releases.get(activation!.release))!,
      id: 'elsewhere' as never,
    })
    await store.releases.activate({
      ...activation!,
      release: 'elsewhere' as never,
      generation: 2,
    })
    expect((await look()).canary).toMatchObject({
      status: 'rolled-back',
      reason: 'release elsewhere serves instead of its baseline',
    })
  })

  it('another process that was quicker', async () => {
    await begin()
    await sessions(100, { candidate: 1, baseline: 0 })
    settle()
    const outcomes = await Promise.all([look(), look()])
    expect(outcomes.filter(({ release }) => release !== null).length).toBeGreaterThan(0)
    expect(await registry.list(agent)).toHaveLength(2)

    await registry.rollback(agent)
    now += 1
    await begin()
    await sessions(100, { candidate: 1, baseline: 0 })
    settle()
    vi.spyOn(store.releases, 'pinned').mockImplementationOnce(async () => {
      await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
      return null
    })
    expect((await look()).canary).toMatchObject({ status: 'rolled-back', reason: 'by hand' })
  })
})

it('notes looks that hold ever more rarely, and anew for every step', async () => {
  await begin(rampGate)
  const memory = newCanaryMemory()
  for (let i = 0; i < 18; i++) {
    await session(i % 2 === 0 ? 'candidate' : 'baseline', 0.5)
    settle()
    await look({ memory })
  }
  const held = (await types()).filter((type) => type === 'held').length
  expect(held).toBeGreaterThan(3)
  expect(held).toBeLessThan(10)
})

it('is quick for thousands of sessions that are known', async () => {
  await begin(canaryGate({ shares: [0.5], sessionsPerStep: 5_000, maxSessions: 10_000 }))
  const n = 600
  await Promise.all(
    Array.from({ length: n }, (_, i) =>
      store.traffic.append(
        sessionCall(
          `t_${i}`,
          {
            release: canary.baseline,
            canary: { id: canary.id, arm: i % 2 === 0 ? 'candidate' : 'baseline', propensity: 0.5 },
          },
          { at: now + i },
        ),
      ),
    ),
  )
  now += n
  settle()
  const memory = newCanaryMemory()
  await look({ memory })
  expect(memory.sessions.get(TrajectoryId.parse('t_7'))?.outcome?.arm).toBe('baseline')
  const begun = performance.now()
  const { sessions: counted } = await look({ memory })
  expect(counted.baseline + counted.candidate).toBe(n)
  expect(performance.now() - begun).toBeLessThan(500)
})
