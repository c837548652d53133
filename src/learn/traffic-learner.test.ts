import { afterEach, beforeEach, expect, it } from 'vitest'
import { base, model, prompt, sessionCall, thumb } from '../../test/support/canary-parts.ts'
import { servedReader } from '../../test/support/learner-traffic.ts'
import { practisedModel } from '../../test/support/practised-model.ts'
import { type Canary, KeyId, type Store } from '../core/index.ts'
import { Registry } from '../release/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { canaryGateFrom } from './canary-look.ts'
import { LearnFromTrafficConfig } from './source/traffic/config.ts'
import { trafficLearner } from './traffic-learner.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** Sessions of both arms by turns, all of which people like. */
async function likedInBothArms(canary: Canary, count: number) {
  const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 999 }
  for (let i = 0; i < count; i++) {
    const arm = i % 2 === 0 ? 'candidate' : 'baseline'
    const servedBy = { release: canary.baseline, canary: { id: canary.id, arm, propensity: 0.5 } } as const
    const call = sessionCall(`t_${i}`, servedBy, { at: 11 + i })
    const head = { ...call.head, origin: { ...call.head.origin, agent: canary.agent } }
    await store.traffic.append({ ...call, head })
    await store.signals.append([{ ...thumb(`t_${i}`, 1, 200), reporter: `user ${i}` }], { caps, now: 200 })
  }
}

it('tells nothing of a canary that is only kept from going on by a pin', async () => {
  const config = LearnFromTrafficConfig.parse({
    mode: 'automatic',
    judgeAfter: '1s',
    rubric: { signals: { thumbs: {} } },
    reporters: { share: 1, trusted: ['k'] },
    canary: { shares: [0.5, 0.9], sessionsPerStep: 10, maxSessions: 200, guards: false, promote: 'behaviour-only' },
  })
  const agent = servedReader.name
  const registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
  const gate = canaryGateFrom(config)
  const canary = await registry.startCanary({
    agent,
    versions: [prompt('better')],
    admission: null,
    run: null,
    gate,
    at: 10,
  })
  await registry.keepWatched(canary.id, { at: 10, forMs: 9_000 })
  await likedInBothArms(canary, 40)
  await registry.pin(agent, 'the fair')

  const told: string[] = []
  const { watch } = trafficLearner({
    agent: servedReader,
    tenant: 'default',
    config,
    store,
    openModel: () => Promise.resolve(practisedModel().service),
    onEvent: (event) => told.push(event.type === 'watched' ? `${event.action} ${event.status}` : event.type),
    clock: { now: () => 5_000 },
  })
  await watch?.()
  await watch?.()
  expect(told).toEqual([])
  const story = await store.canaries.events(canary.id)
  expect(story.flatMap(({ reasons }) => reasons)).toContain('What serves is pinned: the fair.')
  await registry.unpin(agent)
  await watch?.()
  expect(told).toEqual(['advance running'])
})

it('looks again at what was promoted by truth while the next canary runs: when its labels go, both go back', async () => {
  const config = LearnFromTrafficConfig.parse({
    mode: 'automatic',
    judgeAfter: '1s',
    rubric: { implicit: false },
    reporters: { share: 1, trusted: ['k'] },
    canary: { shares: [0.5], sessionsPerStep: 10, guards: false, missing: 'neutral', missingTolerance: 0.1 },
    audit: { share: 1, by: 'person', queue: 500 },
  })
  const agent = servedReader.name
  const registry = new Registry(store)
  const first = await registry.initial(agent, [model, base], 1)
  let now = 10
  const begin = (text: string) =>
    registry.startCanary({
      agent,
      versions: [prompt(text)],
      admission: null,
      run: null,
      gate: canaryGateFrom(config),
      salt: 'of the tests',
      at: now,
    })
  const told: string[] = []
  const { watch } = trafficLearner({
    agent: servedReader,
    tenant: 'default',
    config,
    store,
    openModel: () => Promise.resolve(practisedModel().service),
    onEvent: (event) => told.push(event.type === 'watched' ? `${event.action} ${event.status}` : event.type),
    clock: { now: () => now },
  })
  const canary = await begin('better')
  await registry.keepWatched(canary.id, { at: now, forMs: 99_000 })
  await likedInBothArms(canary, 100)
  now = 5_000
  await watch?.()
  for (const { id, sequence } of await store.audits.drawn(canary.id)) {
    const said = { reviewer: 'k_1', by: 'person', truth: sequence % 2 === 0 ? 1 : 0 } as const
    await store.audits.label({ tenant: 'default', draw: id, note: '', at: now, ...said })
  }
  await watch?.()
  expect(told).toEqual(['promote promoted'])
  const next = await begin('better still')
  await watch?.()
  expect((await registry.runningCanary(agent))?.id).toBe(next.id)
  await store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_1'), at: now })
  await watch?.()
  expect(told).toEqual(['promote promoted', 'reopened'])
  expect((await registry.current(agent)).release.id).toBe(first.id)
  expect(await registry.runningCanary(agent)).toBeNull()
})
