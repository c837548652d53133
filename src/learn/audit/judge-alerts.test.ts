import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Audit, type AuditDraw, type Canary, CanaryId, type Store, TrajectoryId } from '../../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../../store/index.ts'
import { tellOfJudge } from './tell-judge.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const canary = { id: CanaryId.parse('k'), agent: 'a' } as Canary
const audit = Audit.parse({ by: 'person', share: 0.5, judge: { share: 1, model: 'm' }, patienceMs: 100 })

type Word = { readonly truth: number | null; readonly at: number }
const drawOf = (sequence: number, word: Word | null = null): AuditDraw => ({
  id: `d${sequence}`,
  canary: canary.id,
  sequence,
  trajectory: TrajectoryId.parse(`t${sequence}`),
  at: sequence,
  labels: word
    ? [
        {
          tenant: 'default',
          draw: `d${sequence}`,
          reviewer: 'judge',
          by: 'judge',
          note: '',
          withdrawnAt: null,
          ...word,
        },
      ]
    : [],
})
async function told(judged: readonly AuditDraw[], now: number, couldAnswer = true): Promise<readonly string[]> {
  await tellOfJudge(store, canary, { audit, judged, couldAnswer, now })
  return (await store.alerts.list({ kind: 'audit', limit: 99 })).map(({ message }) => message)
}

describe('alerts of a judge', () => {
  it('tell once of one unbroken run of words that cannot be read, however long it goes on', async () => {
    const words = Array.from({ length: 40 }, (_, i) => drawOf(i, { truth: i < 3 ? 1 : null, at: 50 + i }))
    expect(await told(words.slice(0, 12), 90)).toEqual([])
    for (const length of [13, 14, 20, 40]) expect(await told(words.slice(0, length), 90)).toHaveLength(1)
    const again = words.map((draw) => (draw.sequence === 20 ? drawOf(20, { truth: 0, at: 70 }) : draw))
    expect(await told(again, 90)).toHaveLength(2)
  })

  it('tell once of one unbroken silence, and of none while a backlog is answered', async () => {
    const silent = Array.from({ length: 30 }, (_, i) => drawOf(i))
    expect(await told(silent, 100)).toEqual([])
    for (const now of [101, 150, 200]) expect(await told(silent, now)).toHaveLength(1)
    for (let answered = 1; answered < 30; answered++) {
      const backlog = silent.map((draw) =>
        draw.sequence < answered ? drawOf(draw.sequence, { truth: draw.sequence % 2, at: 200 + draw.sequence }) : draw,
      )
      expect(await told(backlog, 201 + answered)).toHaveLength(1)
    }
    // It falls silent anew.
    const later = [...silent.map(({ sequence }) => drawOf(sequence, { truth: sequence % 2, at: 230 })), drawOf(240)]
    expect(await told(later, 340)).toHaveLength(1)
    expect(await told(later, 341)).toHaveLength(2)
  })

  it('tell of no silence where it had no time to answer, or what it was never asked about is left', async () => {
    expect(await told([drawOf(0)], 500, false)).toEqual([])
    expect(await told([drawOf(0), drawOf(300, { truth: 1, at: 310 })], 900)).toEqual([])
  })
})
