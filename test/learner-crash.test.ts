import { describe, expect, it } from 'vitest'
import type { Store } from '../src/core/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { crashingStore } from './support/crashing-store.ts'
import { likedSessions, recordSessions, runTraffic, sayOf } from './support/learner-traffic.ts'
import { practisedModel } from './support/practised-model.ts'

const { renderer } = practisedModel().service
const now = 3_600_000
let store: Store

describe('a process that dies while it learns from traffic', () => {
  const remains = async () => {
    const [first] = await store.runs.list({ limit: 5 })
    const { id, status, versionsOut } = first!
    const events = await store.runs.events(id)
    const canaries = await store.canaries.list({ limit: 5 })
    const { runId: _, canary: __, seconds: ___, ...summary } = events.at(-1)!.data['summary'] as Record<string, unknown>
    return {
      status,
      versionsOut,
      summary,
      canaries: canaries.map(({ candidate, status: stands }) => ({ candidate, stands })),
      story: events.flatMap(({ type }) => (type === 'started' ? [] : [type])),
      sequences: events.every(({ sequence }, i) => sequence === i),
    }
  }
  const prepare = async () => {
    store = await openMemoryStore()
    await likedSessions(store, { now, prefix: 's', count: 4 })
    await recordSessions(store, renderer, [{ id: 'edited' }])
    const node = 'edited-c-a' as never
    await store.signals.append([sayOf('edited', { kind: 'edit', text: 'green' }, { name: 'edit', node })])
  }

  it('at any write, just before or just after it, changes nothing of what a resumed run comes to', async () => {
    await prepare()
    await runTraffic(store, now)
    const expected = await remains()
    expect(expected).toMatchObject({ status: 'completed', canaries: [{ stands: 'running' }], sequences: true })
    for (const moment of ['before', 'after'] as const) {
      for (let n = 1; ; n++) {
        await prepare()
        const dying = crashingStore(store, n, moment)
        await runTraffic(store, now, { store: dying.store }).catch(() => {})
        if (!dying.crashed()) break
        const [begun] = await store.runs.list({ limit: 1 })
        await runTraffic(store, now, begun ? { resume: begun.id } : {})
        expect(await remains(), `died ${moment} write ${n}`).toEqual(expected)
      }
    }
  })
})
