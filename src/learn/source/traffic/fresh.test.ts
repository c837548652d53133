import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { likedSessions, runTraffic, sessionCall } from '../../../../test/support/learner-traffic.ts'
import { practisedModel } from '../../../../test/support/practised-model.ts'
import type { CanaryArm, Store } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { Registry } from '../../../release/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { traffic } from '../../source.ts'
import { freshEpisodes } from './fresh.ts'

const { renderer } = practisedModel().service
const hour = 3_600_000
const source = traffic({ agent: 'reader', window: '6h', settle: '10m' })

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

it('sessions of a candidate that never came to serve are not counted, those beside it are', async () => {
  await likedSessions(store, { now: hour, prefix: 's', count: 4 })
  const { summary } = await runTraffic(store, hour)
  const canary = present(summary.canary, 'the canary')
  const visit = async (id: string, arm: CanaryArm, at: number) => {
    const version = arm === 'candidate' ? summary.candidate : undefined
    const { head, part, ...call } = sessionCall({ id, arm, at, ...(version ? { version } : {}) }, renderer)
    const { origin } = head
    const servedBy = origin.servedBy && { ...origin.servedBy, canary: { id: canary, arm, propensity: 0.5 } }
    await store.traffic.append({ ...call, part, head: { ...head, origin: { ...origin, servedBy } } })
  }
  for (const arm of ['candidate', 'baseline'] as const) {
    for (let i = 0; i < 3; i++) await visit(`${arm}-${i}`, arm, hour + i)
  }
  await new Registry(store).rollBackCanary(canary, { reasons: ['by hand'], at: hour + 100 })
  const read = [vi.spyOn(store.trajectories, 'get'), vi.spyOn(store.trajectories, 'list')]
  expect(await freshEpisodes(store, source, 'reader', 2 * hour, ['route', 'model'])).toBe(3)
  expect(await freshEpisodes(store, source, 'reader', 2 * hour, ['route'])).toBe(6)
  for (const whole of read) expect(whole, 'no trajectory is put together').not.toHaveBeenCalled()
})
