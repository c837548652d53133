import { afterEach, beforeEach, expect, it } from 'vitest'
import { base, model, prompt, sessionCall, thumb } from '../../test/support/canary-parts.ts'
import { servedReader } from '../../test/support/learner-traffic.ts'
import { practisedModel } from '../../test/support/practised-model.ts'
import type { Store } from '../core/index.ts'
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
  const caps = { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 999 }
  for (let i = 0; i < 40; i++) {
    const arm = i % 2 === 0 ? 'candidate' : 'baseline'
    const servedBy = { release: canary.baseline, canary: { id: canary.id, arm, propensity: 0.5 } } as const
    const call = sessionCall(`t_${i}`, servedBy, { at: 11 + i })
    await store.traffic.append({ ...call, head: { ...call.head, origin: { ...call.head.origin, agent } } })
    await store.signals.append([{ ...thumb(`t_${i}`, 1, 200), reporter: `user ${i}` }], { caps, now: 200 })
  }
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
