import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { likedSessions, runTraffic, type TrafficChanges } from '../../../../test/support/learner-traffic.ts'
import { CanaryId, ClientName, rng, type RunId, savedAt, type Store } from '../../../core/index.ts'
import { present } from '../../../errors/index.ts'
import { calibrationOf } from '../../../release/index.ts'
import { type Factors, trafficRubric } from '../../../reward/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { canaries } from '../../../store/canaries.conformance.ts'
import { sample } from '../../../store/store.conformance.ts'
import { traffic } from '../../../store/traffic.conformance.ts'
import { shadow } from '../../release-plan.ts'
import { BATCH, decodeBatch } from './used.ts'

const hour = 3_600_000
const audit = { share: 1, by: 'person' } as const
const canary = CanaryId.parse('k')

let store: Store
let now: number
beforeEach(async () => {
  store = await openMemoryStore()
  now = 48 * hour
  await store.releases.put(sample.release('a', { agent: 'reader' }))
})
afterEach(() => store.close())

/** Sessions of a canary that were judged by people; `tells`: how often a thumb is the truth. */
async function label(tells: number, { count = 120, paidBy = weighed({}).hash, id = canary } = {}): Promise<void> {
  const running = { agent: 'reader', gate: { name: 'canary', config: { audit } } }
  await store.canaries.put(canaries.canary(id, running))
  const stream = rng('calibrated', tells)
  const truths = Array.from({ length: count }, () => Number(stream.next() < 0.5))
  const judged = truths.map((truth, i) => ({
    ...canaries.judged(`${id}-${i}`, i),
    arm: i % 2 === 0 ? ('candidate' as const) : ('baseline' as const),
    signals: { thumbs: (stream.next() < tells ? truth : 1 - truth) === 1 ? 1 : -1 },
    audit: { probability: 1, draw: `${id}-d${i}` },
    paidBy,
  }))
  for (const { trajectory } of judged) await store.traffic.append(traffic.call(trajectory, `c-${trajectory}`))
  await store.canaries.appendJudged(id, judged)
  for (const [i, truth] of truths.entries()) {
    const by = { reviewer: ClientName.parse('k_1'), by: 'person', note: '', at: 100 } as const
    await store.audits.label({ tenant: 'default', draw: `${id}-d${i}`, truth, ...by })
  }
  await store.canaries.put(canaries.canary(id, { ...running, status: 'rolled-back', endedAt: 300 }))
}

const weighed = (factors: Factors) => trafficRubric({}, { trusted: ['k'], factors })
async function run(changes: TrafficChanges = {}) {
  const { summary, events } = await runTraffic(store, now, {
    release: shadow(),
    reward: weighed({}),
    weighed,
    ...changes,
  })
  return { summary, events, batch: await batchOf(summary.runId) }
}
async function batchOf(run: RunId) {
  const saved = await savedAt(store.blobs, present((await store.runs.latestCheckpoint(run))?.blobs[BATCH], 'the batch'))
  if (!(saved instanceof Uint8Array)) throw new Error('a batch that a trainer keeps')
  return decodeBatch(saved)
}
const sessions = () => likedSessions(store, { now, prefix: 's', count: 8 })

describe('a session that was labelled', () => {
  /** People judge those that people liked, by turns with a thumb up and one down: what they say is the opposite. */
  const judgeSessions = async () => {
    const config = { audit }
    await store.canaries.put(canaries.canary(canary, { agent: 'reader', gate: { name: 'canary', config } }))
    const judged = [0, 1, 2, 3].map((i) => ({
      ...canaries.judged(`s${i}`, i),
      audit: { probability: 1, draw: `d${i}` },
    }))
    expect(await store.canaries.appendJudged(canary, judged)).toBe(true)
    for (const i of [0, 1, 2]) {
      const said = { reviewer: ClientName.parse('k_1'), by: 'person', truth: i % 2, note: '', at: 100 } as const
      await store.audits.label({ tenant: 'default', draw: `d${i}`, ...said })
    }
    await store.canaries.put(
      canaries.canary(canary, {
        agent: 'reader',
        gate: { name: 'canary', config },
        status: 'rolled-back',
        endedAt: 300,
      }),
    )
  }
  const better = ({ batch }: Awaited<ReturnType<typeof run>>, id: string) =>
    (batch.credits.find(({ trajectory }) => trajectory === id)?.advantage ?? 0) > 0

  it('earns what the label says, whatever people pressed; the others what they did', async () => {
    await sessions()
    await judgeSessions()
    const learned = await run()
    expect(['s0', 's1', 's2', 's3', 's4'].map((id) => better(learned, id))).toEqual([false, true, false, false, true])
    expect(learned.batch.truths).toEqual([
      { trajectory: 's0', truth: 0 },
      { trajectory: 's1', truth: 1 },
      { trajectory: 's2', truth: 0 },
    ])
    expect(learned.summary.learned).toMatchObject({ labelled: 3 })
  })

  it('earns what people did where labels are not to teach', async () => {
    await sessions()
    await judgeSessions()
    const learned = await run({ calibrate: false })
    expect(['s0', 's1', 's2'].map((id) => better(learned, id))).toEqual([true, false, true])
    expect(learned.batch).not.toHaveProperty('truths')
  })
})

describe('what signals are worth to learning', () => {
  it('falls where labels say that they tell nothing, and is kept with the batch', async () => {
    await label(0.5)
    await sessions()
    const { batch, summary } = await run()
    expect(Object.keys(batch.factors ?? {})).toEqual(['thumbs'])
    expect(batch.factors?.['thumbs']).toBeLessThan(0.3)
    expect(summary.learned).toMatchObject({ factors: batch.factors, sessions: 8, credited: 8 })
    const { signals } = await calibrationOf(store, 'reader', { range: [-1, 1], rubric: null }, now)
    expect(signals).toMatchObject([{ signal: 'thumbs', factor: batch.factors?.['thumbs'], labels: 120 }])
  })

  it('is the constant where there are no labels, and where that is said', async () => {
    await sessions()
    const none = await run()
    expect(none.batch).not.toHaveProperty('factors')
    expect(none.summary.learned).not.toHaveProperty('factors')
    await label(0.5)
    await likedSessions(store, { now, prefix: 't', count: 8 })
    expect((await run({ calibrate: false })).batch).not.toHaveProperty('factors')
  })

  it('is what labels say of signals that this rubric paid: another pays in another unit', async () => {
    await label(0.5, { paidBy: 'another', id: CanaryId.parse('before') })
    await sessions()
    expect((await run()).batch).not.toHaveProperty('factors')
    const byAnother = { range: [-1, 1], rubric: 'another' } as const
    expect(await calibrationOf(store, 'reader', byAnother, now)).toMatchObject({ labels: 120 })
    await label(0.97)
    const { labels, signals } = await calibrationOf(store, 'reader', { range: [-1, 1], rubric: weighed({}).hash }, now)
    expect([labels, signals[0]?.factor]).toEqual([120, 1])
    expect(await calibrationOf(store, 'reader', { range: [-1, 1], rubric: null }, now)).toMatchObject({ labels: 120 })
  })

  it('is the constant where labels bear it out', async () => {
    await label(0.97)
    await sessions()
    expect((await run()).batch).not.toHaveProperty('factors')
  })

  it('stays what it was when a run is gone on with, whatever was labelled since', async () => {
    await label(0.5)
    await sessions()
    const stop = new AbortController()
    const stopAfterGathering: TrafficChanges = {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === 'gathered') stop.abort(new Error('stopped'))
      },
    }
    await expect(run(stopAfterGathering)).rejects.toThrow()
    const [left] = await store.runs.list({ limit: 1 })
    const asked: Factors[] = []
    const counting = (factors: Factors) => {
      asked.push(factors)
      return weighed(factors)
    }
    const { factors: before } = await batchOf(left!.id)
    // Labels are taken back meanwhile: what was gathered rests on them still.
    await store.audits.withdraw({ tenant: 'default', key: 'k_1' as never, at: now })
    const { batch } = await run({ resume: left!.id, weighed: counting })
    expect(before).toBeDefined()
    expect(batch.factors).toEqual(before)
    expect(asked.length).toBeGreaterThan(0)
    for (const factors of asked) expect(factors).toEqual(before)
  })
})
