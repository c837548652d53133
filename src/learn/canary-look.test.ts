import { afterEach, beforeEach, expect, it } from 'vitest'
import { agent, base, model, prompt, sessionCall, thumb } from '../../test/support/canary-parts.ts'
import type { Store } from '../core/index.ts'
import { Registry } from '../release/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { canaryGateFrom, canaryLook } from './canary-look.ts'
import { LearnFromTrafficConfig } from './traffic/config.ts'

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

it('goes on after a look that failed', async () => {
  const config = LearnFromTrafficConfig.parse({})
  const look = canaryLook({ store, tenant: 'default', config }, 'hand')
  const looks = await Promise.allSettled([look('none' as never), look('none' as never)])
  expect(looks).toMatchObject([
    { reason: { code: 'release/unknown-canary' } },
    { reason: { code: 'release/unknown-canary' } },
  ])
})
