import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Canary, CanaryArm, Rubric, ServedBy, Store } from '../core/index.ts'
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
const judgeAfterMs = 1_000

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
    judgeAfterMs,
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
  if (earned !== null) await say(id, earned, now + said)
  return id
}

const caps = { perTrajectory: 99, perTrajectoryOfKey: 99, perDay: 99_999 }
/** A user says at a time what they say happened at another. */
const say = (id: string, value: number, received: number, { at = received, reporter = 'ann' } = {}) =>
  store.signals.append([{ ...thumb(id, value, at), key: `${id} ${received} ${at}`, reporter }], { caps, now: received })

const fail = () => {
  throw new Error('broken')
}

/** Sessions of both arms by turns. */
async function sessions(n: number, earned: Readonly<Record<CanaryArm, number | null>>): Promise<void> {
  for (let i = 0; i < n; i++) {
    const arm = i % 2 === 0 ? 'candidate' : 'baseline'
    await session(arm, earned[arm])
  }
}

const untilDue = () => {
  now += judgeAfterMs
}
const types = async () => (await store.canaries.events(canary.id)).map(({ type }) => type)

describe('one look', () => {
  it('promotes a candidate that is better: the release says that its evidence is the canary’s alone', async () => {
    await begin()
    await sessions(100, { candidate: 1, baseline: 0 })
    untilDue()
    const looked = await look()
    expect(looked).toMatchObject({
      canary: { status: 'promoted', endedAt: now },
      verdict: { action: 'promote' },
      sessions: { candidate: 50, baseline: 50, underWay: 0, withheld: 0, unwatched: 0, overShare: 0 },
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
    untilDue()
    const { release } = await look()
    expect(await store.receipts.get(release!.receipt!)).toMatchObject({ admission: canary.admission })
    expect(canary.admission).not.toBeNull()
  })

  it('takes a candidate back that is worse, and tells how many sessions had it', async () => {
    await begin()
    await sessions(100, { candidate: 0, baseline: 1 })
    untilDue()
    const under = [await session('candidate', null), await session('baseline', null)]
    const read = vi.spyOn(store.trajectories, 'get')
    const looked = await look()
    expect(looked).toMatchObject({ canary: { status: 'rolled-back' }, verdict: { action: 'roll-back' } })
    expect(read.mock.calls.some(([id]) => under.includes(id))).toBe(false)
    const [alert] = await store.alerts.list({ agent, kind: 'rollback', limit: 1 })
    expect(alert?.message).toContain('was rolled back after 51 sessions had it')
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
    untilDue()
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
    untilDue()
    const first = await look()
    expect(first).toMatchObject({ verdict: { action: 'advance' }, canary: { step: 1, stepAt: now } })
    canary = first.canary
    const second = await look()
    expect(second.verdict?.evidence).toMatchObject({ step: 1, sessionsInStep: 0 })
    await sessions(10, { candidate: 0.5, baseline: 0.5 })
    untilDue()
    expect((await look()).verdict?.evidence).toMatchObject({ sessionsInStep: 5 })
  })

  it('goes on when it has judged, not when it began to: who came meanwhile had the share of before', async () => {
    await begin(rampGate)
    await sessions(40, { candidate: 0.5, baseline: 0.5 })
    untilDue()
    const began = now
    const meanwhile: Promise<string>[] = []
    const slow = () => {
      if (meanwhile.length === 0) meanwhile.push(session('candidate', 0.5))
      return {}
    }
    const { canary: after } = await look({ guardMetrics: slow })
    await Promise.all(meanwhile)
    expect(after).toMatchObject({ step: 1, stepAt: now })
    expect(now).toBeGreaterThan(began)
    const [advanced] = (await store.canaries.events(canary.id)).filter(({ type }) => type === 'advanced')
    expect(advanced?.at).toBe(now)
  })

  it('gives up a canary whose gate was configured anew', async () => {
    await begin(quickGate)
    await sessions(100, { candidate: 1, baseline: 0 })
    untilDue()
    const { canary: after } = await look({ gate: rampGate })
    expect(after).toMatchObject({ status: 'ended', reason: expect.stringContaining('configured otherwise now') })
    expect((await registry.current(agent)).release.versions).toEqual(served)
  })

  it('goes on with one that began before persons had arms, by its own rules', async () => {
    const { people: _, excess: __, ...before } = quickGate.config
    await begin({ ...quickGate, config: before } as typeof quickGate)
    await sessions(100, { candidate: 1, baseline: 0 })
    untilDue()
    const gate = canaryGate({ ...quickGate.config, people: { trusted: ['k'] }, missingTolerance: 0.3 })
    const { release } = await look({ gate })
    const receipt = await store.receipts.get(release!.receipt!)
    expect(receipt?.gate.config).toMatchObject({ people: null, excess: 'candidate', missingTolerance: 0 })
  })

  it('goes on with one that says nothing of tails, and looks at none', async () => {
    const people = { trusted: ['k'] }
    const { tails: _, ...before } = canaryGate({ ...quickGate.config, people }).config
    await begin({ ...quickGate, config: before })
    await sessions(100, { candidate: 1, baseline: 0 })
    untilDue()
    const { release } = await look({ gate: canaryGate({ ...quickGate.config, people }) })
    expect((await store.receipts.get(release!.receipt!))?.gate.config).toMatchObject({ people, tails: false })
  })

  it('counts a person once at a share: their next sessions compare nothing, are not audited, and end it in time', async () => {
    const people = { trusted: ['k'] }
    const gate = canaryGate({ shares: [0.5], sessionsPerStep: 10, maxSessions: 30, people })
    await begin(gate)
    for (let i = 0; i < 40; i++) {
      now += 1
      const arm = i % 2 === 0 ? 'candidate' : 'baseline'
      const servedBy: ServedBy = { release: canary.baseline, canary: { id: canary.id, arm, propensity: 0.5 } }
      const call = sessionCall(`t_${i}`, servedBy, { at: now })
      const head = { ...call.head, origin: { ...call.head.origin, subject: `user-${i % 4}` } }
      await store.traffic.append({ ...call, head })
    }
    untilDue()
    const memory = newCanaryMemory()
    const looked = await look({ memory })
    expect(looked.verdict?.evidence).toMatchObject({
      compared: 4,
      repeats: 18,
      sessions: { candidate: 20, baseline: 20 },
    })
    expect(looked.verdict?.evidence['sessionsInStep']).toBe(2)
    expect(looked.verdict?.action).toBe('wait')
    expect(looked.verdict?.reasons).toContainEqual(expect.stringContaining('18 sessions of the candidate'))
    // Another process, which reads what the first one judged, goes on in the same way.
    for (let i = 40; i < 60; i++) {
      now += 1
      const servedBy: ServedBy = {
        release: canary.baseline,
        canary: { id: canary.id, arm: 'candidate', propensity: 0.5 },
      }
      const call = sessionCall(`t_${i}`, servedBy, { at: now })
      const head = { ...call.head, origin: { ...call.head.origin, subject: `user-${2 * (i % 2)}` } }
      await store.traffic.append({ ...call, head })
    }
    untilDue()
    const { verdict } = await look({ memory: newCanaryMemory() })
    expect(verdict?.evidence).toMatchObject({ compared: 4, repeats: 38 })
    expect(verdict?.action).toBe('end')
  })

  it('hears of a session that its person came back and asked the same again, before it was due', async () => {
    const gate = canaryGate({ shares: [0.5], people: { trusted: ['k'] } })
    await begin(gate)
    const ask = async (id: string, subject: string, instruction: string, { agent: of = agent, key = 'k' } = {}) => {
      now += 1
      const servedBy: ServedBy = {
        release: canary.baseline,
        canary: { id: canary.id, arm: 'baseline', propensity: 0.5 },
      }
      const call = sessionCall(id, servedBy, { at: now })
      const origin = { ...call.head.origin, subject, agent: of, key }
      const task = { ...call.head.task, instruction }
      await store.traffic.append({ ...call, head: { ...call.head, origin, task } })
    }
    await ask('again', 'ann', 'Where is my order 12 today?')
    await ask('again-2', 'ann', 'Where is order 12 of mine today?')
    await ask('other', 'bob', 'Where is my order 12 today?')
    await ask('other-2', 'bob', 'Where is my order 13 today?')
    await ask('agent', 'cat', 'Where is my order 12 today?')
    await ask('agent-2', 'cat', 'Where is my order 12 today?', { agent: 'another' })
    await ask('key', 'dan', 'Where is my order 12 today?')
    await ask('key-2', 'dan', 'Where is my order 12 today?', { key: 'stranger' })
    await ask('late', 'eve', 'Where is my order 12 today?')
    now += judgeAfterMs
    await ask('late-2', 'eve', 'Where is my order 12 today?')
    untilDue()
    const seen = vi.spyOn(gate, 'look')
    await look({ gate })
    const outcomes = seen.mock.calls[0]?.[0].sessions ?? []
    const shown = outcomes.filter(({ guards }) => guards['askedAgain'] === 1).map(({ trajectory }) => trajectory)
    expect(outcomes.map(({ trajectory }) => trajectory)).toContain('late-2')
    expect(shown).toEqual(['again'])
  })

  it('gives up a candidate that shows neither a gain nor a harm', async () => {
    const gate = canaryGate({ shares: [0.5], sessionsPerStep: 10, maxSessions: 20 })
    await begin(gate)
    await sessions(40, { candidate: 0.5, baseline: 0.5 })
    untilDue()
    expect(await look()).toMatchObject({ verdict: { action: 'end' }, canary: { status: 'ended' } })
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

  it('is the judged sessions of both arms in the order in which they began, with their propensities', async () => {
    await begin()
    await sessions(4, { candidate: 1, baseline: 0 })
    untilDue()
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
    expect(counted).toEqual({ candidate: 2, baseline: 2, underWay: 1, withheld: 0, unwatched: 0, overShare: 0 })
  })

  it('is what was known so long after a session began, for both arms, also when more is said later', async () => {
    await begin()
    await session('candidate', 1, { said: judgeAfterMs - 1 })
    await session('baseline', 1, { said: judgeAfterMs + 1 })
    untilDue()
    now += judgeAfterMs
    const { input } = await given()
    expect(input?.sessions.map(({ reward }) => reward)).toEqual([1, null])
  })

  it('has guard metrics, and a null for what is missing or cannot be scored', async () => {
    await begin()
    await session('candidate', null)
    await session('baseline', 1)
    untilDue()
    expect((await given()).input?.sessions[0]).toMatchObject({ reward: null, guards: { errors: 0, brokenCalls: 0 } })
    const problems: unknown[] = []
    const broken: Rubric = { ...thumbs, score: () => Promise.reject(new Error('broken')) }
    await session('candidate', 1)
    await session('baseline', 1)
    untilDue()
    const { input } = await given({ rubric: broken, onProblem: (error) => problems.push(error) })
    expect(input?.sessions.slice(2).map(({ reward, guards }) => [reward, guards])).toEqual([
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
    untilDue()
    const { input, sessions: counted } = await given()
    expect(input?.sessions.map(({ trajectory }) => trajectory)).toEqual(['t_1'])
    expect(counted).toEqual({ candidate: 0, baseline: 1, underWay: 0, withheld: 1, unwatched: 0, overShare: 0 })
  })

  it('is judged once: what is dated back, told late or done later changes nothing', async () => {
    await begin()
    const memory = newCanaryMemory()
    await sessions(6, { candidate: 0.5, baseline: 0.5 })
    untilDue()
    await look({ memory })
    const first = await given({ memory })
    await say('t_1', 1, now + 1, { at: now - judgeAfterMs })
    const late = sessionCall('t_2', { release: canary.baseline, canary: null }, { at: now })
    const part = { ...late.part, call: 'late' as never, stopReason: 'failed' as never }
    await store.traffic.append({ ...late, part: { ...part, nodes: [], steps: [] } })
    const read = vi.spyOn(store.trajectories, 'get')
    const fresh = await session('candidate', 1)
    // Dated back before the first look at it, and received after it was due.
    await say(fresh, 0, now + judgeAfterMs + 1, { at: now })
    untilDue()
    now += 10
    const second = await given({ memory })
    expect(new Set(read.mock.calls.map(([id]) => id))).toEqual(new Set([fresh]))
    expect(second.input?.sessions.slice(0, 6)).toEqual(first.input?.sessions)
    expect(second.input?.sessions[6]).toMatchObject({ trajectory: fresh, reward: 1 })
    // A watcher that is started anew goes on from what is stored.
    expect((await given()).input?.sessions).toEqual(second.input?.sessions)
    await store.trajectories.remove({ canary: canary.id }, { dryRun: false })
    const erased = (await given()).input?.sessions ?? []
    expect(erased.map(({ trajectory }) => trajectory)).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => `erased-${i}`))
    expect(erased.map(({ reward }) => reward)).toEqual(second.input?.sessions.map(({ reward }) => reward))
  })

  it('is the same for two watchers at once', async () => {
    await begin()
    await sessions(40, { candidate: 0.5, baseline: 0.5 })
    untilDue()
    await Promise.all([look(), look(), look()])
    const judged = await store.canaries.judged(canary.id, { from: 0, limit: 99 })
    expect(judged.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 40 }, (_, i) => i))
    expect(new Set(judged.map(({ trajectory }) => trajectory)).size).toBe(40)
  })

  it('ends with the rules that it was judged by', async () => {
    await begin()
    await sessions(4, { candidate: 1, baseline: 1 })
    untilDue()
    await look()
    expect((await look({ judgeAfterMs: 2 * judgeAfterMs })).canary).toMatchObject({
      status: 'ended',
      reason: expect.stringContaining('judged otherwise now') as string,
    })
  })

  it('has no session that was under way while nobody looked, in either arm', async () => {
    await begin()
    await sessions(4, { candidate: 1, baseline: 0 })
    now = (await store.canaries.watched())[0]!.until - 10
    await session('candidate', 1)
    await session('baseline', 0)
    now += judgeAfterMs
    const { input, sessions: counted } = await given()
    expect(input?.sessions).toHaveLength(4)
    expect(counted).toMatchObject({ candidate: 2, baseline: 2, unwatched: 2 })
    expect((await given()).sessions).toEqual(counted)
  })

  it('is at most so much of one reporter: who floods one arm neither promotes nor takes back', async () => {
    const flooded = [
      [0, true, 'wait'],
      [1, true, 'wait'],
      [0, false, 'roll-back'],
      [1, false, 'promote'],
    ] as const
    for (const [vote, limits, action] of flooded) {
      await begin()
      for (let i = 0; i < 200; i++) {
        const arm = i % 2 === 0 ? 'candidate' : 'baseline'
        const honest = i % 4 < 2
        const id = await session(arm, null)
        const value = honest ? Number(i % 8 < 4) : arm === 'candidate' ? vote : 1 - vote
        await say(id, value, now, { reporter: honest ? `k:${i}` : 'mallory' })
      }
      untilDue()
      const looked = await look(limits ? { reporters: { share: 0.1 } } : {})
      expect(looked.verdict?.action).toBe(action)
      if (!limits) continue
      const judged = await store.canaries.judged(canary.id, { from: 0, limit: 999 })
      expect(judged.filter(({ unheard }) => unheard === 0)).toHaveLength(100 + 20)
      await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
    }
  })

  it('has no session beyond a reporter’s share whose first call had not ended when it was due', async () => {
    await begin()
    for (let i = 0; i < 8; i++) {
      now += 1
      const servedBy: ServedBy = {
        release: canary.baseline,
        canary: { id: canary.id, arm: 'candidate', propensity: 0.5 },
      }
      const call = sessionCall(`t_${i}`, servedBy, { at: now })
      const head = { ...call.head, origin: { ...call.head.origin, subject: 'ann' } }
      await store.traffic.append({ ...call, head, part: { ...call.part, endedAt: now + 2 * judgeAfterMs } })
    }
    untilDue()
    const { input, sessions: counted } = await given({ reporters: {} })
    expect(input?.sessions.map(({ reward }) => reward)).toEqual([null, null, null, null, null])
    expect(counted).toMatchObject({ candidate: 5, overShare: 3 })
  })

  it('has sessions whose first call ended hours later, as ones without a reward', async () => {
    const late = (id: string) => {
      const servedBy: ServedBy = {
        release: canary.baseline,
        canary: { id: canary.id, arm: 'candidate', propensity: 0.5 },
      }
      const call = sessionCall(id, servedBy, { at: 12 })
      return store.traffic.append({ ...call, part: { ...call.part, endedAt: now } })
    }
    await begin()
    const memory = newCanaryMemory()
    await sessions(2, { candidate: 1, baseline: 1 })
    untilDue()
    await look({ memory })
    now += 3 * 3_600_000
    await look({ memory })
    await sessions(2, { candidate: 1, baseline: 1 })
    untilDue()
    expect((await look({ memory })).sessions).toMatchObject({ candidate: 2, baseline: 2 })
    await late('t_hours')
    // Not at once for who looks several times a minute, which would read them all each time; but soon, and then no more.
    expect((await look({ memory })).sessions).toMatchObject({ candidate: 2 })
    now += 600_000
    const { input, sessions: counted } = await given({ memory })
    expect(counted).toMatchObject({ candidate: 3, baseline: 2 })
    expect(input?.sessions.at(-1)).toMatchObject({ trajectory: 't_hours', reward: null, guards: {} })
    expect((await given({ memory })).sessions).toEqual(counted)
    // Whoever looks for the first time finds them at once: a person asks once.
    await late('t_more')
    expect((await look()).sessions).toMatchObject({ candidate: 4 })
  })

  it('is kept for no canary that ended while it was judged', async () => {
    await begin()
    await sessions(4, { candidate: 1, baseline: 0 })
    untilDue()
    const stopping: Rubric = {
      ...thumbs,
      score: async (...evidence) => {
        if ((await registry.runningCanary(agent)) !== null)
          await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
        return thumbs.score(...evidence)
      },
    }
    expect(await look({ rubric: stopping, reporters: {} })).toMatchObject({
      canary: { status: 'rolled-back', reason: 'by hand' },
      verdict: null,
    })
    expect(await store.canaries.judged(canary.id, { from: 0, limit: 9 })).toEqual([])
  })
})

describe('what stands in the way', () => {
  it('a pin lets a candidate go back, and holds it otherwise, with the reason', async () => {
    await begin()
    await registry.pin(agent, 'the fair')
    await sessions(100, { candidate: 1, baseline: 0 })
    untilDue()
    const memory = newCanaryMemory()
    const looked = await look({ memory })
    expect(looked).toMatchObject({ waits: 'What serves is pinned: the fair.', canary: { status: 'running' } })
    const [, held] = await store.canaries.events(canary.id)
    expect(held).toMatchObject({ type: 'held', reasons: expect.arrayContaining(['What serves is pinned: the fair.']) })
    await registry.unpin(agent)
    expect((await look({ memory })).canary.status).toBe('promoted')
  })

  it('another version of what it tries, which serves, takes the candidate back', async () => {
    await begin()
    const activation = await store.releases.current(agent)
    await store.releases.put({
      ...(await store.releases.get(activation!.release))!,
      id: 'elsewhere' as never,
      versions: setOf(model, prompt('elsewhere')),
    })
    await store.releases.activate({
      ...activation!,
      release: 'elsewhere' as never,
      generation: 2,
    })
    expect((await look()).canary).toMatchObject({
      status: 'rolled-back',
      reason: 'release elsewhere serves with another version of system, which it tries',
    })
  })

  it('another process that was quicker', async () => {
    await begin()
    await sessions(100, { candidate: 1, baseline: 0 })
    untilDue()
    const outcomes = await Promise.all([look(), look()])
    expect(outcomes.filter(({ release }) => release !== null).length).toBeGreaterThan(0)
    expect(await registry.list(agent)).toHaveLength(2)

    await registry.rollback(agent)
    now += 1
    await begin()
    await sessions(100, { candidate: 1, baseline: 0 })
    untilDue()
    vi.spyOn(store.releases, 'pinned').mockImplementationOnce(async () => {
      await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
      return null
    })
    expect((await look()).canary).toMatchObject({ status: 'rolled-back', reason: 'by hand' })
  })
})

describe('a look', () => {
  const until = async () => (await store.canaries.watched())[0]?.until

  it('lets the canary go on serving for a while, and is not written down each time', async () => {
    await begin()
    expect(await until()).toBe(now + 30_000)
    const kept = vi.spyOn(registry, 'keepWatched')
    for (let i = 0; i < 10; i++) {
      now += 1_000
      await look({ watchedForMs: 12_000 })
    }
    expect(kept).not.toHaveBeenCalled()
    for (let i = 0; i < 30; i++) {
      now += 1_000
      await look({ watchedForMs: 12_000 })
      expect(await until()).toBeGreaterThanOrEqual(now + 8_000)
    }
    expect(kept.mock.calls.length).toBeLessThan(10)
    expect(await types()).not.toContain('unwatched')
  })

  it('that fails does not', async () => {
    await begin()
    now += 29_000
    await expect(look({ guardMetrics: () => ({}), gate: { ...quickGate, look: () => fail() } })).rejects.toThrow(
      'broken',
    )
    expect(await until()).toBeLessThan(now + 2_000)
  })

  it('that takes longer than its watch lets the canary go on from its end, and tells of the time between', async () => {
    await begin()
    const [began, end] = [now, await until()]
    await session('candidate', 1)
    untilDue()
    const slow = () => {
      now = began + 50_000
      return {}
    }
    await look({ guardMetrics: slow, watchedForMs: 20_000 })
    expect(await until()).toBe(now + 20_000)
    expect((await store.canaries.events(canary.id)).find(({ type }) => type === 'unwatched')).toMatchObject({
      evidence: { from: end, until: now },
    })
  })

  it('after a time without any tells of it in the story', async () => {
    await begin()
    const end = await until()
    now += 60_000
    await look()
    expect((await store.canaries.events(canary.id)).find(({ type }) => type === 'unwatched')).toMatchObject({
      evidence: { from: end, until: now },
      share: 0.5,
    })
    expect(await until()).toBe(now + 30_000)
  })
})

it('notes looks that hold ever more rarely, and anew for every step', async () => {
  await begin(rampGate)
  const memory = newCanaryMemory()
  for (let i = 0; i < 18; i++) {
    await session(i % 2 === 0 ? 'candidate' : 'baseline', 0.5)
    untilDue()
    await look({ memory })
  }
  const held = (await types()).filter((type) => type === 'held').length
  expect(held).toBeGreaterThan(3)
  expect(held).toBeLessThan(10)
})
