import { describe, expect, it } from 'vitest'
import type { Store } from '../src/core/index.ts'
import { openMemoryStore } from '../src/store/index.ts'
import { crashingStore } from './support/crashing-store.ts'
import { imitate, policyGradient, preferences, sequence } from '../src/optimize/weights/index.ts'
import { likedSessions, recordSessions, runTraffic, sayOf, type TrafficChanges } from './support/learner-traffic.ts'
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
      story: events.flatMap(({ type }) => (['started', 'agreed'].includes(type) ? [] : [type])),
      alerts: (await store.alerts.list({ limit: 9 })).map(({ kind, name, evidence }) => ({ kind, name, evidence })),
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

  const lessons: readonly (readonly [string, TrafficChanges])[] = [
    ['by practice', {}],
    [
      'by a sequence of three lessons, the first of which goes too far',
      {
        optimize: { model: sequence(policyGradient({ learningRate: 1 }), imitate(), preferences()) },
        model: { practice: (_step, learningRate) => 2 * learningRate, logprob: (skill) => 0.14 * skill },
        // The model's sampler does not know of that.
        agreement: 1,
      },
    ],
  ]

  it.each(lessons)('at any write changes nothing of what a resumed run learns %s', async (_, changes) => {
    await prepare()
    await runTraffic(store, now, changes)
    const expected = await remains()
    expect(expected).toMatchObject({ status: 'completed', canaries: [{ stands: 'running' }], sequences: true })
    for (const moment of ['before', 'after'] as const) {
      for (let n = 1; ; n++) {
        await prepare()
        const dying = crashingStore(store, n, moment)
        await runTraffic(store, now, { ...changes, store: dying.store }).catch(() => {})
        if (!dying.crashed()) break
        const [begun] = await store.runs.list({ limit: 1 })
        await runTraffic(store, now, { ...changes, ...(begun && { resume: begun.id }) })
        expect(await remains(), `died ${moment} write ${n}`).toEqual(expected)
      }
    }
  })
})
