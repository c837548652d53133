import { afterEach, beforeEach, expect, it } from 'vitest'
import { agent, base, model, prompt, sessionCall, thumb } from '../../test/support/canary-parts.ts'
import type { CanaryId, RecordedCall, Store } from '../core/index.ts'
import { present } from '../errors/index.ts'
import { Registry } from '../release/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { canaryGateFrom, canaryLook } from './canary-look.ts'
import { LearnFromTrafficConfig } from './source/traffic/config.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

it('counts every session once, however many ask for a look at once', async () => {
  const config = LearnFromTrafficConfig.parse({ judgeAfter: '1s' })
  const registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
  const gate = canaryGateFrom(config)
  const versions = [prompt('better')]
  const canary = await registry.startCanary({ agent, versions, admission: null, run: null, gate, at: 10 })
  for (let i = 0; i < 30; i++) {
    const arm = i % 2 === 0 ? 'candidate' : 'baseline'
    const served = { release: canary.baseline, canary: { id: canary.id, arm, propensity: 0.5 } } as const
    await store.traffic.append(sessionCall(`t_${i}`, served, { at: 11 + i }))
    const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 999 }
    await store.signals.append([{ ...thumb(`t_${i}`, 1, 50), reporter: `user ${i}` }], { caps, now: 50 })
  }
  const look = canaryLook({ store, tenant: 'default', config, clock: { now: () => 5_000 } }, 'hand')
  const fresh = canaryLook({ store, tenant: 'default', config, clock: { now: () => 5_000 } }, 'hand')
  await fresh(canary.id)
  const looks = await Promise.all([look(canary.id), look(canary.id), look(canary.id)])
  for (const { sessions } of looks) expect(sessions).toMatchObject({ baseline: 15, candidate: 15 })
})

it('judges an hour after a session began, where nobody says otherwise: by then silence has spoken', async () => {
  const config = LearnFromTrafficConfig.parse({})
  const hour = 3_600_000
  const registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
  const gate = canaryGateFrom(config)
  const versions = [prompt('better')]
  const canary = await registry.startCanary({ agent, versions, admission: null, run: null, gate, at: 10 })
  await registry.keepWatched(canary.id, { at: 10, forMs: 9 * hour })
  const sessions = { silent: null, early: hour - 1, late: hour + 1 }
  for (const [id, said] of Object.entries(sessions)) {
    const served = { release: canary.baseline, canary: { id: canary.id, arm: 'candidate', propensity: 0.01 } } as const
    await store.traffic.append(asking(sessionCall(id, served, { at: 20 })))
    const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 999 }
    if (said !== null)
      await store.signals.append([{ ...thumb(id, 1, 20 + said), reporter: id }], { caps, now: 20 + said })
  }
  const clock = { now: () => 20 + hour - 1 }
  const look = canaryLook({ store, tenant: 'default', config, clock }, 'hand')
  expect((await look(canary.id)).sessions).toMatchObject({ candidate: 0, underWay: 3 })
  clock.now = () => 20 + hour
  expect((await look(canary.id)).sessions).toMatchObject({ candidate: 3, underWay: 0 })
  const judged = await store.canaries.judged(canary.id, { from: 0, limit: 9 })
  expect(Object.fromEntries(judged.map(({ trajectory, reward }) => [trajectory, reward]))).toEqual({
    early: 1,
    // Half an hour without a word after a question is its user's answer; what they said later came too late.
    silent: -0.5,
    late: -0.5,
  })
})

it('holds a question against the candidate where like tasks were answered without one', async () => {
  const config = LearnFromTrafficConfig.parse({ judgeAfter: '1s' })
  const registry = new Registry(store)
  const { id: release } = await registry.initial(agent, [model, base], 1)
  const start = { agent, versions: [prompt('better')], admission: null, run: null, gate: canaryGateFrom(config) }
  const questions = async (id: string) => {
    const judged = await store.canaries.judged(id as never, { from: 0, limit: 9 })
    return judged.map(({ guards, reward }) => [guards['questionsBack'], reward])
  }
  const asks = async (session: string, canary: { id: CanaryId; baseline: typeof release }, at: number) => {
    const arm = { id: canary.id, arm: 'candidate', propensity: 0.01 } as const
    await store.traffic.append(asking(sessionCall(session, { release: canary.baseline, canary: arm }, { at })))
    await registry.keepWatched(canary.id, { at, forMs: 9_000 })
    await canaryLook({ store, tenant: 'default', config, clock: { now: () => at + 2_000 } }, 'hand')(canary.id)
  }
  // "Why?" is no clear task by its wording.
  const first = await registry.startCanary({ ...start, at: 10 })
  await asks('t_first', first, 20)
  expect(await questions(first.id)).toEqual([[0, null]])
  await registry.endCanary(first.id, { reasons: ['enough'], at: 3_000 })
  for (let i = 0; i < 9; i++) {
    const answered = asking(sessionCall(`s_${i}`, { release, canary: null }, { at: 4_000 + i }), 'Because.')
    await store.traffic.append(answered)
  }
  const second = await registry.startCanary({ ...start, at: 5_000 })
  await asks('t_second', second, 5_010)
  expect(await questions(second.id)).toEqual([[1, -1]])
})

/** The session as one that ended with a question, or with other words. */
function asking(call: RecordedCall, content = 'Which one?'): RecordedCall {
  const [question, answer] = call.part.nodes.map((node) => ({ ...node, at: call.head.startedAt }))
  const said = { ...present(answer, 'the answer'), message: { role: 'assistant', content } as const }
  const [step] = call.part.steps
  const { head, part } = call
  const asked = {
    id: part.call,
    choice: 0,
    model: 'm',
    upstream: 'u',
    servedModel: 'm',
    params: {},
    tools: null,
    finish: 'stop',
    usage: null,
    upstreamId: null,
    startedAt: head.startedAt,
    firstTokenMs: null,
    totalMs: 1,
    retryOf: null,
  } as const
  const steps = [{ ...present(step, 'the step'), call: asked }]
  return { ...call, part: { ...part, nodes: [present(question, 'the question'), said], steps } }
}

it('goes on after a look that failed', async () => {
  const config = LearnFromTrafficConfig.parse({})
  const look = canaryLook({ store, tenant: 'default', config }, 'hand')
  const looks = await Promise.allSettled([look('none' as never), look('none' as never)])
  expect(looks).toMatchObject([
    { reason: { code: 'release/unknown-canary' } },
    { reason: { code: 'release/unknown-canary' } },
  ])
})
