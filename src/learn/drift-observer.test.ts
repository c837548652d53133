import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordSessions, sayOf, type SessionSketch } from '../../test/support/learner-traffic.ts'
import { practisedModel } from '../../test/support/practised-model.ts'
import { defaultTenant, type Store } from '../core/index.ts'
import { DriftConfig } from '../release/index.ts'
import { rubric, signal } from '../reward/index.ts'
import { openMemoryStore } from '../store/index.ts'
import { driftObserver } from './drift-observer.ts'

const { renderer } = practisedModel().service
const minute = 60_000

let store: Store
let now: number
beforeEach(async () => {
  store = await openMemoryStore()
  now = 1_000 * minute
})
afterEach(() => store.close())

const observer = () =>
  driftObserver({
    store,
    agent: 'reader',
    tenant: defaultTenant,
    rubric: rubric({ thumbs: signal('thumbs') }, { floor: -1 }),
    config: DriftConfig.parse({ sessionsBetweenFalseAlarms: 1_000 }),
    settleMs: 10 * minute,
    historyMs: 10_000 * minute,
    clock: { now: () => now },
  })

let told = 0
/** Sessions a minute apart, of which `liked` says whether they were. */
async function sessions(count: number, liked: (i: number) => boolean, sketch: Partial<SessionSketch> = {}) {
  for (let i = 0; i < count; i++) {
    const id = `s${told++}`
    await recordSessions(store, renderer, [{ ...sketch, id, at: now }])
    await store.signals.append([sayOf(id, liked(i), { at: now + 1 })])
    now += minute
  }
}

const alerts = () => store.alerts.list({ agent: 'reader', limit: 10 })

it('an agent that fares worse than it did is told of, once, also by an observer that was started anew', async () => {
  const observe = observer()
  await sessions(120, (i) => i % 10 !== 0)
  await observe()
  expect(await alerts()).toEqual([])
  await sessions(40, (i) => i % 10 === 0)
  now += 10 * minute
  await observe()
  const [alert, ...others] = await alerts()
  expect(others).toEqual([])
  expect(alert).toMatchObject({ kind: 'drift', name: 'reward', agent: 'reader', run: null })
  await store.alerts.put({ ...alert!, run: 'run-1' as never })
  await observe()
  await observer()()
  expect(await alerts()).toEqual([{ ...alert, run: 'run-1' }])
})

it('sessions that are not settled, may not be learned from, or had a candidate say nothing', async () => {
  await sessions(120, (i) => i % 10 !== 0)
  await sessions(40, () => false, { train: false })
  await sessions(40, () => false, { arm: 'candidate' })
  now += 10 * minute
  await observer()()
  expect(await alerts()).toEqual([])
})
