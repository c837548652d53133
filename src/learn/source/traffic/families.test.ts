import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordSessions, runTraffic, sayOf } from '../../../../test/support/learner-traffic.ts'
import { practisedModel } from '../../../../test/support/practised-model.ts'
import type { Store } from '../../../core/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { shadow } from '../../release-plan.ts'

const { renderer } = practisedModel().service
const hour = 3_600_000

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** Sessions that ask the same of other things; those whose number `liked` names earn. */
async function asked(prefix: string, wording: string, now: number, liked: (i: number) => boolean): Promise<void> {
  for (let i = 0; i < 12; i++) {
    const id = `${prefix}${i}`
    await recordSessions(store, renderer, [{ id, question: `${wording} ${id}?`, at: now - hour / 2 - 100 + i }])
    await store.signals.append([sayOf(id, liked(i), { at: now - hour / 2 })])
  }
}

const alerts = async () => (await store.alerts.list({ limit: 9 })).filter(({ kind }) => kind === 'learning')

describe('kinds of requests', () => {
  beforeEach(async () => {
    await asked('a', 'Where is the parcel', hour, () => false)
    await asked('b', 'How much is the', hour, (i) => i % 2 === 0)
  })

  it('are told with how they go, each by a session of its own', async () => {
    const { events } = await runTraffic(store, hour, { release: shadow() })
    const [told] = events.filter((event) => event.type === 'families')
    expect(told?.families).toEqual([
      { family: 'like a11', rate: 0, tasks: 12, dead: true },
      { family: 'like b11', rate: 0.5, tasks: 12, dead: false },
    ])
    expect(JSON.stringify(await store.runs.events((await store.runs.list({ limit: 1 }))[0]!.id))).not.toContain(
      'parcel',
    )
  })

  it('on which nothing goes well are an alert, once while they stay the same', async () => {
    const { summary } = await runTraffic(store, hour, { release: shadow() })
    const [alert, ...more] = await alerts()
    expect(more).toEqual([])
    expect(alert).toMatchObject({
      name: 'families',
      run: summary.runId,
      evidence: { families: [{ example: 'a11', sessions: 12, rate: 0 }] },
    })
    expect(alert?.message).toContain('one kind of requests, in 12 sessions')

    const later = hour + hour
    await asked('c', 'Where is the parcel', later, () => false)
    await asked('d', 'How much is the', later, (i) => i % 2 === 0)
    await runTraffic(store, later, { release: shadow() })
    expect(await alerts()).toHaveLength(1)

    const last = later + hour
    await asked('e', 'Where is the parcel', last, (i) => i % 2 === 0)
    await asked('f', 'How much is the', last, () => false)
    await runTraffic(store, last, { release: shadow() })
    expect((await alerts())[0]?.evidence).toMatchObject({ families: [{ example: 'f11' }] })
  })
})
