import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AuditLabel, CanaryId, DRAWS_IN_BLOCK, KeyId, type Store } from '../core/index.ts'
import { canaries } from './canaries.conformance.ts'
import { UnknownRecordError } from './errors/index.ts'
import { sample } from './store.conformance.ts'
import { traffic } from './traffic.conformance.ts'

/** What every Store does with audits, whatever is under it. `open` gives an empty one. */
export function auditConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: audits`, () => {
    const canary = CanaryId.parse('k')
    let store: Store
    beforeEach(async () => {
      store = await open()
      await store.releases.put(sample.release('a'))
      await store.canaries.put(canaries.canary('k'))
    })
    afterEach(() => store.close())

    const label = (draw: string, change: Partial<AuditLabel> = {}): Omit<AuditLabel, 'withdrawnAt'> => ({
      tenant: 'default',
      draw,
      reviewer: 'k_1:ann',
      by: 'person',
      truth: 1,
      note: 'The order is there.',
      at: 50.5,
      ...change,
    })
    /** Judges sessions, of which those with a draw were drawn. */
    const judge = async (...draws: readonly (string | null)[]) => {
      const sessions = draws.map((draw, i) => ({
        ...canaries.judged(`t${i}`, i),
        audit: { probability: 0.25, draw },
      }))
      for (const { trajectory } of sessions) {
        await store.traffic.append(traffic.call(trajectory, `c-${trajectory}`))
      }
      expect(await store.canaries.appendJudged(canary, sessions)).toBe(true)
      return sessions
    }

    it('keep a draw with its judged session, or neither', async () => {
      const sessions = await judge('d0', null, 'd2')
      expect(await store.canaries.judged(canary, { from: 0, limit: 9 })).toEqual(sessions)
      const drawn = await store.audits.drawn(canary)
      expect(drawn).toMatchObject([
        { id: 'd0', canary, sequence: 0, trajectory: 't0', at: 0, labels: [] },
        { id: 'd2', canary, sequence: 2, trajectory: 't2', at: 20, labels: [] },
      ])
      expect(await store.audits.get('d2')).toEqual(drawn[1])
      expect(await store.audits.get('d1')).toBeNull()
      const late = { ...canaries.judged('t9', 3), audit: { probability: 0.25, draw: 'd9' } }
      expect(await store.canaries.appendJudged(canary, [late])).toBe(false)
      expect(await store.audits.get('d9')).toBeNull()
    })

    it('tell those whose truth is asked for from those that only a judge is asked about', async () => {
      const asked = (draw: string | null, of: string | null) => ({
        probability: 0.1,
        draw,
        judge: { probability: 0.5, draw: of },
      })
      const sessions = [asked('d0', 'd0'), asked(null, 'judge-d1'), asked(null, null)].map((audit, i) => ({
        ...canaries.judged(`t${i}`, i),
        audit,
      }))
      for (const { trajectory } of sessions) await store.traffic.append(traffic.call(trajectory, `c-${trajectory}`))
      expect(await store.canaries.appendJudged(canary, sessions)).toBe(true)
      expect(await store.canaries.judged(canary, { from: 0, limit: 9 })).toEqual(sessions)
      await store.audits.label(label('judge-d1', { by: 'judge', reviewer: 'judge', truth: 0.7 }))
      expect((await store.audits.drawn(canary)).map(({ id }) => id)).toEqual(['d0'])
      expect(await store.audits.forJudge(canary)).toMatchObject([
        { id: 'd0', labels: [] },
        { id: 'judge-d1', labels: [{ by: 'judge', truth: 0.7 }] },
      ])
    })

    it('take one label of a reviewer: again changes nothing, and the last word counts', async () => {
      await judge('d0')
      expect(await store.audits.label(label('d0'))).toBe('recorded')
      expect(await store.audits.label(label('d0', { at: 60 }))).toBe('repeated')
      expect((await store.audits.get('d0'))?.labels).toEqual([{ ...label('d0'), withdrawnAt: null }])
      expect(await store.audits.label(label('d0', { truth: null, at: 70 }))).toBe('changed')
      expect(await store.audits.label(label('d0', { reviewer: 'k_1:bob', truth: 0.5 }))).toBe('recorded')
      expect((await store.audits.drawn(canary))[0]?.labels).toMatchObject([
        { reviewer: 'k_1:ann', truth: null, at: 70 },
        { reviewer: 'k_1:bob', truth: 0.5 },
      ])
      await expect(store.audits.label(label('gone'))).rejects.toThrow(UnknownRecordError)
    })

    it('take back what a key said, under all its names, and nothing of others', async () => {
      await judge('d0', 'd1')
      for (const reviewer of ['k_1:ann', 'k_1:bob', 'k_1', 'k_11:ann', 'k_2:k_1']) {
        await store.audits.label(label('d0', { reviewer }))
      }
      await store.audits.label(label('d1', { tenant: 'other' }))
      const withdraw = (tenant: string, at: number) => store.audits.withdraw({ tenant, key: KeyId.parse('k_1'), at })
      expect(await withdraw('default', 80)).toBe(3)
      expect(await withdraw('default', 90)).toBe(0)
      const withdrawn = (await store.audits.get('d0'))?.labels.map(({ reviewer, withdrawnAt }) => [
        reviewer,
        withdrawnAt,
      ])
      expect(Object.fromEntries(withdrawn ?? [])).toEqual({
        k_1: 80,
        'k_1:ann': 80,
        'k_1:bob': 80,
        'k_11:ann': null,
        'k_2:k_1': null,
      })
      expect((await store.audits.get('d1'))?.labels).toMatchObject([{ withdrawnAt: null }])
    })

    it('forget names and words of what is erased, and keep the numbers', async () => {
      await judge('d0', 'd1')
      for (const draw of ['d0', 'd1']) await store.audits.label(label(draw))
      await store.trajectories.remove({ session: 'mine' }, { dryRun: false })
      expect((await store.audits.get('d0'))?.labels).toMatchObject([{ note: 'The order is there.' }])
      await store.trajectories.remove({ canary, origin: 'traffic' }, { dryRun: false })
      await store.trajectories.remove({ origin: 'traffic' }, { dryRun: false })
      expect(await store.audits.drawn(canary)).toMatchObject([
        { trajectory: 'erased-0', labels: [{ truth: 1, note: '' }] },
        { trajectory: 'erased-1', labels: [{ truth: 1, note: '' }] },
      ])
    })

    it('tell cheaply whether what was said of a canary, or what was erased of it, has changed', async () => {
      await judge('d0', 'd1')
      const markNow = async () => JSON.stringify(await store.audits.marks(canary))
      const change = async (work: () => Promise<unknown>) => {
        const before = await markNow()
        await work()
        return (await markNow()) !== before
      }
      expect(await change(async () => {})).toBe(false)
      expect(await change(() => store.audits.label(label('d0')))).toBe(true)
      expect(await change(() => store.audits.label(label('d0')))).toBe(false)
      expect(await change(() => store.audits.label(label('d1', { at: 1 })))).toBe(true)
      expect(await change(() => store.audits.label(label('d1', { at: 1, truth: 0 })))).toBe(true)
      expect(await change(() => store.audits.label(label('d1', { at: 1, truth: null })))).toBe(true)
      const key = KeyId.parse('k_1')
      expect(await change(() => store.audits.withdraw({ tenant: 'default', key, at: 80 }))).toBe(true)
      expect(await change(() => store.audits.label(label('d1', { at: 1, truth: null })))).toBe(true)
      expect(await change(() => store.trajectories.remove({ origin: 'traffic' }, { dryRun: false }))).toBe(true)
      expect(await store.audits.marks(CanaryId.parse('none'))).toEqual([])
    })

    it('tell which blocks of draws have changed, and give each alone', async () => {
      const last = 2 * DRAWS_IN_BLOCK
      await judge(...Array.from({ length: last + 1 }, (_, i) => (i % DRAWS_IN_BLOCK === 0 ? `d${i}` : null)))
      const before = await store.audits.marks(canary)
      expect(before.map(({ block }) => block)).toEqual([0, 1, 2])
      await store.audits.label(label(`d${DRAWS_IN_BLOCK}`))
      const after = await store.audits.marks(canary)
      expect(after.map(({ mark }, i) => mark === before[i]?.mark)).toEqual([true, false, true])
      expect(await store.audits.forJudge(canary, 1)).toMatchObject([
        { id: `d${DRAWS_IN_BLOCK}`, labels: [{ truth: 1 }] },
      ])
      expect(await store.audits.forJudge(canary, 3)).toEqual([])
    })

    it('keep no words about what was erased before they came', async () => {
      await judge('d0', 'd1')
      await store.audits.label(label('d0'))
      await store.trajectories.remove({ canary, origin: 'traffic' }, { dryRun: false })
      await store.trajectories.remove({ origin: 'traffic' }, { dryRun: false })
      expect(await store.audits.label(label('d0', { truth: 0, note: 'Ann wrote.' }))).toBe('changed')
      expect(await store.audits.label(label('d1', { note: 'Ann wrote.' }))).toBe('recorded')
      const labels = (await store.audits.drawn(canary)).flatMap((draw) => draw.labels)
      expect(labels).toMatchObject([
        { truth: 0, note: '' },
        { truth: 1, note: '' },
      ])
    })
  })
}
