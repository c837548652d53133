import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { type AuditDraw, CanaryId, DRAWS_IN_BLOCK, KeyId, type Store } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { canaries } from '../../store/canaries.conformance.ts'
import { sample } from '../../store/store.conformance.ts'
import { traffic } from '../../store/traffic.conformance.ts'
import { DrawsRead } from './draws-read.ts'

const canary = CanaryId.parse('k')
let store: Store
let judged: number
beforeEach(async () => {
  store = await openMemoryStore()
  await store.releases.put(sample.release('a'))
  await store.canaries.put(canaries.canary(canary))
  judged = 0
})
afterEach(() => store.close())

/** Judges sessions, all of which are drawn. */
async function judge(count: number): Promise<void> {
  const sessions = Array.from({ length: count }, (_, i) => ({
    ...canaries.judged(`t${judged + i}`, judged + i),
    audit: { probability: 1, draw: `d${judged + i}` },
  }))
  for (const { trajectory } of sessions) await store.traffic.append(traffic.call(trajectory, `c-${trajectory}`))
  await store.canaries.appendJudged(canary, sessions)
  judged += count
}
const label = (draw: number) =>
  store.audits.label({
    tenant: 'default',
    draw: `d${draw}`,
    reviewer: 'k_1',
    by: 'person',
    truth: 1,
    note: '',
    at: draw,
  })

it('reads as much after a long history as after a short one: what came since', async () => {
  const read = new DrawsRead()
  let rows = 0
  const inStore = store.audits.forJudge.bind(store.audits)
  vi.spyOn(store.audits, 'forJudge').mockImplementation(async (...asked) => {
    const draws = await inStore(...asked)
    rows += draws.reduce((sum, { labels }) => sum + 1 + labels.length, 0)
    return draws
  })
  const look = async (): Promise<number> => {
    const before = rows
    const draws: readonly AuditDraw[] = await read.all(store, canary)
    expect(draws).toEqual(await inStore(canary))
    return rows - before
  }
  const costs: number[] = []
  for (let looks = 0; looks < 12; looks++) {
    await judge(50)
    for (let draw = judged - 50; draw < judged; draw++) await label(draw)
    costs.push(await look())
    expect(await look()).toBe(0)
  }
  // Never more than the two blocks that 50 new draws can lie in, with their labels.
  expect(Math.max(...costs)).toBeLessThanOrEqual(2 * 2 * DRAWS_IN_BLOCK)
  expect(judged).toBeGreaterThan(4 * DRAWS_IN_BLOCK)
})

it('sees what was said late, taken back and erased, and reads another canary anew', async () => {
  const read = new DrawsRead()
  await judge(2 * DRAWS_IN_BLOCK)
  await label(3)
  const now = () => read.all(store, canary)
  expect((await now())[3]?.labels).toHaveLength(1)
  await store.audits.withdraw({ tenant: 'default', key: KeyId.parse('k_1'), at: 9 })
  expect((await now())[3]?.labels).toMatchObject([{ withdrawnAt: 9 }])
  await store.trajectories.remove({ origin: 'traffic' }, { dryRun: false })
  expect((await now())[3]).toMatchObject({ trajectory: 'erased-3' })
  expect(await read.all(store, CanaryId.parse('other'))).toEqual([])
  expect(await now()).toHaveLength(2 * DRAWS_IN_BLOCK)
})
