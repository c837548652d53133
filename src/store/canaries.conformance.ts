import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  Canary,
  CanaryEvent,
  CanaryId,
  type CanaryReceipt,
  JudgedSession,
  Receipt,
  type Store,
  TrajectoryId,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import {
  EndedCanaryError,
  RunningCanaryError,
  RecordConflictError,
  UnknownReferenceError,
  UnstorableValueError,
} from './errors/index.ts'
import { sample } from './store.conformance.ts'
import { traffic } from './traffic.conformance.ts'

/** Canaries to store, as small as their schemas allow. */
export const canaries = {
  canary: (id: string, change: object = {}): Canary =>
    Canary.parse({
      id,
      agent: 'support',
      baseline: 'a',
      candidate: { system: 'v1' },
      admission: null,
      run: null,
      gate: { name: 'canary', config: { alpha: 0.05 } },
      shares: [0.01, 0.1, 1],
      step: 0,
      salt: 'salt',
      generation: 2,
      status: 'running',
      receipt: null,
      reason: 'It began.',
      startedAt: 100,
      stepAt: 100,
      endedAt: null,
      ...change,
    }),

  event: (canary: string, sequence: number, change: object = {}): CanaryEvent =>
    CanaryEvent.parse({
      canary,
      sequence,
      type: 'held',
      share: 0.1,
      reasons: ['Not enough sessions yet.'],
      evidence: { wealth: 1.5 },
      at: 100 + sequence,
      ...change,
    }),

  receipt: (id: string, change: object = {}): CanaryReceipt =>
    Receipt.parse({
      id,
      gate: { name: 'canary', config: { alpha: 0.05 } },
      agent: 'support',
      baseline: { system: 'v0' },
      candidate: { system: 'v1' },
      canary: 'k',
      admission: null,
      sessions: [{ trajectory: 't1', arm: 'candidate', propensity: 0.1, reward: null, guards: { brokenCalls: 1 } }],
      evidence: {},
      decision: 'reject',
      reasons: ['It breaks calls.'],
      ...change,
    }) as CanaryReceipt,

  judged: (trajectory: string, sequence: number): JudgedSession =>
    JudgedSession.parse({
      trajectory,
      arm: 'candidate',
      propensity: 0.25,
      reward: null,
      guards: { errors: 1 },
      sequence,
      began: 10 * sequence,
      leftOut: null,
      unheard: 0,
      reporters: ['0a1b'],
      rules: 'r',
    }),

  servedBy: (canary: string, arm = 'candidate') => ({ release: 'a', canary: { id: canary, arm, propensity: 0.25 } }),
}

const idOf = (id: string) => CanaryId.parse(id)

/** What every Store does with canaries, and with what they assigned, whatever is under it. `open` gives an empty one. */
export function canaryConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: canaries`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
      await store.releases.put(sample.release('a'))
    })
    afterEach(() => store.close())

    const ended = (id: string, change: object = {}) =>
      canaries.canary(id, { status: 'rolled-back', reason: 'It breaks calls.', endedAt: 300, ...change })

    it('are written and changed until they end', async () => {
      const canary = canaries.canary('k')
      await store.canaries.put(canary)
      const advanced = { ...canary, step: 1, stepAt: 200, reason: 'It is better.' }
      await store.canaries.put(advanced)
      expect(await store.canaries.get(canary.id)).toEqual(advanced)
      await store.receipts.put(canaries.receipt('r1'))
      const gone = ended('k', { step: 1, stepAt: 200, receipt: 'r1' })
      await store.canaries.put(gone)
      expect(await store.canaries.get(canary.id)).toEqual(gone)
      expect(await store.canaries.get(idOf('z'))).toBeNull()
    })

    it('do not go on once they have ended; the same again changes nothing', async () => {
      await store.canaries.put(canaries.canary('k'))
      await store.canaries.put(ended('k'))
      await store.canaries.put(ended('k'))
      for (const change of [canaries.canary('k', { step: 1 }), ended('k', { status: 'promoted' })]) {
        const refused = store.canaries.put(change)
        await expect(refused).rejects.toThrow(EndedCanaryError)
        await expect(refused).rejects.toThrow('it is rolled-back')
      }
      expect(await store.canaries.get(idOf('k'))).toEqual(ended('k'))
    })

    it('keep what sessions were assigned by', async () => {
      await store.canaries.put(canaries.canary('k'))
      for (const change of [{ salt: 'other' }, { shares: [0.5] }, { generation: 3 }, { candidate: { system: 'v2' } }]) {
        await expect(store.canaries.put(canaries.canary('k', change))).rejects.toThrow(RecordConflictError)
      }
      expect(await store.canaries.get(idOf('k'))).toEqual(canaries.canary('k'))
    })

    it('run one at a time, each agent’s by itself', async () => {
      await store.canaries.put(canaries.canary('k1'))
      const refused = store.canaries.put(canaries.canary('k2'))
      await expect(refused).rejects.toThrow(RunningCanaryError)
      await expect(refused).rejects.toThrow('Canary k1 of agent support')
      await store.canaries.put(canaries.canary('k3', { agent: 'sales' }))
      expect((await store.canaries.running()).map(({ id }) => id)).toEqual(['k3', 'k1'])
      await store.canaries.put(ended('k1'))
      await store.canaries.put(canaries.canary('k2'))
      expect((await store.canaries.running()).map(({ id }) => id)).toEqual(['k3', 'k2'])
      expect((await store.canaries.list({ limit: 9 })).map(({ id }) => id)).toEqual(['k2', 'k3', 'k1'])
      expect((await store.canaries.list({ agent: 'support', limit: 1 })).map(({ id }) => id)).toEqual(['k2'])
      expect(await store.canaries.get(idOf('k2'))).toEqual(canaries.canary('k2'))
    })

    it('have one winner when many begin at once, and when one ends and advances at once', async () => {
      const starts = await Promise.allSettled(
        Array.from({ length: 8 }, (_, i) => store.canaries.put(canaries.canary(`k${i}`))),
      )
      expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const lost = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []))
      for (const reason of lost) expect(reason).toBeInstanceOf(RunningCanaryError)

      const { id } = present((await store.canaries.running())[0], 'the canary')
      await Promise.allSettled([
        store.canaries.put(ended(id)),
        ...[1, 2].map((step) => store.canaries.put(canaries.canary(id, { step }))),
      ])
      expect((await store.canaries.get(id))?.status).toBe('rolled-back')
      expect(await store.canaries.running()).toEqual([])
    })

    it('begin from a release and end with a receipt that exist', async () => {
      await expect(store.canaries.put(canaries.canary('k', { baseline: 'z' }))).rejects.toThrow(UnknownReferenceError)
      await expect(store.canaries.put(canaries.canary('k', { admission: 'z' }))).rejects.toThrow(UnknownReferenceError)
      await store.canaries.put(canaries.canary('k'))
      await expect(store.canaries.put(ended('k', { receipt: 'z' }))).rejects.toThrow(UnknownReferenceError)
    })

    it('are watched until the latest time that was said, which is no change of what serves', async () => {
      expect(await store.canaries.watched()).toEqual([])
      await store.canaries.put(canaries.canary('k'))
      expect(await store.canaries.watched()).toEqual([{ canary: 'k', until: 0 }])
      const revision = await store.releases.revision()
      for (const until of [200, 500, 300]) await store.canaries.watch(idOf('k'), until)
      expect(await store.canaries.watched()).toEqual([{ canary: 'k', until: 500 }])
      expect(await store.releases.revision()).toBe(revision)
      await store.canaries.put(canaries.canary('k', { step: 1 }))
      expect(await store.canaries.watched()).toEqual([{ canary: 'k', until: 500 }])
      await store.canaries.put(ended('k'))
      expect(await store.canaries.watched()).toEqual([])
    })

    it('keep how each session was judged, once and in one order, and find those that were not', async () => {
      await store.canaries.put(canaries.canary('k'))
      const origin = { agent: 'support', servedBy: canaries.servedBy('k') }
      for (const [i, id] of ['t1', 't2', 't3'].entries()) {
        const call = traffic.call(id, `c-${id}`, { origin })
        await store.traffic.append({ ...call, head: { ...call.head, startedAt: 10 * i } })
      }
      const all = { since: 0, until: 100, limit: 9 }
      const unjudged = async (which = all) =>
        (await store.canaries.unjudged(idOf('k'), which)).map(({ trajectory }) => trajectory)
      expect(await unjudged()).toEqual(['t1', 't2', 't3'])
      expect(await unjudged({ ...all, since: 5, until: 15 })).toEqual(['t2'])
      const count = (which: object) => store.canaries.countUnjudged(idOf('k'), { ...all, ...which })
      expect(await Promise.all([{}, { since: 5 }, { until: 15 }].map(count))).toEqual([3, 2, 2])
      const [first, second] = [canaries.judged('t1', 0), canaries.judged('t2', 1)]
      expect(await store.canaries.appendJudged(idOf('k'), [first, second])).toBe(true)
      expect(await unjudged()).toEqual(['t3'])
      // Another was quicker; a gap; a trajectory that is gone.
      expect(await store.canaries.appendJudged(idOf('k'), [canaries.judged('t3', 1)])).toBe(false)
      expect(await store.canaries.appendJudged(idOf('k'), [canaries.judged('t3', 3)])).toBe(false)
      expect(await store.canaries.appendJudged(idOf('k'), [canaries.judged('gone', 2)])).toBe(false)
      expect(await store.canaries.judged(idOf('k'), { from: 0, limit: 9 })).toEqual([first, second])
      expect(await store.canaries.judged(idOf('k'), { from: 1, limit: 9 })).toEqual([second])

      const erased = { ...second, trajectory: 'erased-1', reporters: [] }
      await store.canaries.put(ended('k'))
      expect(await store.canaries.judged(idOf('k'), { from: 1, limit: 9 })).toEqual([{ ...second, reporters: [] }])
      // What came of it rests on what was judged before; and reporters are kept of none that has ended.
      const late = store.canaries.appendJudged(idOf('k'), [canaries.judged('t3', 2)])
      await expect(late).rejects.toThrow(EndedCanaryError)
      const counted = await store.trajectories.remove({ canary: idOf('k') }, { dryRun: true })
      expect(counted).toMatchObject({ trajectories: 3, derived: 2 })
      const { remains: _, ...removed } = await store.trajectories.remove({ canary: idOf('k') }, { dryRun: false })
      expect(counted).toEqual({ ...removed, remains: 'nowhere' })
      expect(await store.canaries.judged(idOf('k'), { from: 1, limit: 9 })).toEqual([erased])
    })

    it('count sessions that nobody judged, by arm, and those that may be learned from', async () => {
      await store.canaries.put(canaries.canary('k'))
      const served = async (id: string, arm: string, origin: object = {}, instruction = 'Hello') => {
        const call = traffic.call(id, `c-${id}`, { origin: { servedBy: canaries.servedBy('k', arm), ...origin } })
        const task = { ...call.head.task, instruction }
        await store.traffic.append({ ...call, head: { ...call.head, task } })
      }
      await served('t1', 'candidate')
      await served('t2', 'candidate', { train: false })
      await served('t3', 'baseline', {}, 'Say {"arm":"candidate"}')
      await served('t4', 'candidate', { servedBy: canaries.servedBy('other') })
      const count = (which: object = {}) => store.canaries.countUnjudged(idOf('k'), { since: 0, until: 1e15, ...which })
      expect(await count()).toBe(3)
      expect(await count({ arm: 'candidate' })).toBe(2)
      expect(await count({ arm: 'baseline' })).toBe(1)
      expect(await count({ train: true })).toBe(2)
      await store.canaries.appendJudged(idOf('k'), [canaries.judged('t1', 0)])
      expect(await count({ arm: 'candidate' })).toBe(1)
    })

    it('judge at once, and each sequence is one’s', async () => {
      await store.canaries.put(canaries.canary('k'))
      await store.traffic.append(traffic.call('t1', 'c1', { origin: { servedBy: canaries.servedBy('k') } }))
      const at = Array.from({ length: 4 }, () => store.canaries.appendJudged(idOf('k'), [canaries.judged('t1', 0)]))
      expect((await Promise.all(at)).filter(Boolean)).toHaveLength(1)
    })

    it('tell their story in order, each event once', async () => {
      await store.canaries.put(canaries.canary('k'))
      for (const sequence of [1, 0, 10, 2, 1]) await store.canaries.appendEvent(canaries.event('k', sequence))
      const events = await store.canaries.events(idOf('k'))
      expect(events.map(({ sequence }) => sequence)).toEqual([0, 1, 2, 10])
      expect(events[1]).toEqual(canaries.event('k', 1))
      expect(await store.canaries.events(idOf('z'))).toEqual([])
      const other = canaries.event('k', 1, { type: 'advanced' })
      await expect(store.canaries.appendEvent(other)).rejects.toThrow(RecordConflictError)
      await expect(store.canaries.appendEvent(canaries.event('z', 0))).rejects.toThrow(UnknownReferenceError)
      const broken = { ...canaries.event('k', 3), evidence: { wealth: Number.NaN } }
      await expect(store.canaries.appendEvent(broken)).rejects.toThrow(UnstorableValueError)
    })

    it('have receipts of their own, kept as they were signed', async () => {
      const receipt = canaries.receipt('r1', { admission: 'r0' })
      await store.receipts.put(receipt)
      await store.receipts.put(receipt)
      expect(await store.receipts.get(receipt.id)).toEqual(receipt)
      await expect(store.receipts.put(canaries.receipt('r1'))).rejects.toThrow(RecordConflictError)
    })

    describe('and what they assigned', () => {
      const served = (id: string, canary: string | null, arm?: string) =>
        store.traffic.append(
          traffic.call(id, `c-${id}`, {
            origin: { agent: 'support', servedBy: canary === null ? null : canaries.servedBy(canary, arm) },
          }),
        )
      const remove = async (filter: object) => {
        const counted = await store.trajectories.remove(filter, { dryRun: true })
        const { remains: _, ...removed } = await store.trajectories.remove(filter, { dryRun: false })
        expect(counted).toEqual({ ...removed, remains: 'nowhere' })
        return counted
      }

      it('are found by the canary, in either arm, and keep their propensity', async () => {
        await served('t1', 'k')
        await served('t2', 'other')
        await served('t3', 'k', 'baseline')
        await served('t4', null)
        const filter = { canary: idOf('k') }
        const found = await store.trajectories.list({ ...filter, limit: 9 })
        expect(found.map(({ trajectory }) => trajectory.id)).toEqual(['t1', 't3'])
        expect(found[1]?.trajectory.origin).toMatchObject({ servedBy: canaries.servedBy('k', 'baseline') })
        expect((await store.trajectories.summaries({ ...filter, limit: 9 })).map(({ id }) => id)).toEqual(['t3', 't1'])
        expect(await store.trajectories.count(filter)).toBe(2)
        expect(await store.trajectories.count({ ...filter, agent: 'sales' })).toBe(0)
        expect(await store.trajectories.count({ ...filter, arm: 'candidate' })).toBe(1)
        const baseline = await store.trajectories.summaries({ arm: 'baseline', limit: 9 })
        expect(baseline.map(({ id }) => id)).toEqual(['t3'])
      })

      it('keep what served them when they began', async () => {
        await served('t1', 'k')
        const later = { agent: 'support', servedBy: canaries.servedBy('other') }
        await store.traffic.append(traffic.call('t1', 'late', { after: 'c-t1-a', origin: later }))
        const [first] = await store.trajectories.list({ canary: idOf('k'), limit: 9 })
        expect(first?.trajectory.origin).toMatchObject({ servedBy: canaries.servedBy('k') })
        expect(await store.trajectories.count({ canary: idOf('other') })).toBe(0)
      })

      it('are known in half answers, too', async () => {
        const origin = { servedBy: canaries.servedBy('k') }
        await store.traffic.savePending(traffic.pending('t1', 'p1', 100, { origin }))
        await store.traffic.savePending(traffic.pending('t2', 'p2', 100))
        expect(await remove({ canary: idOf('k'), arm: 'baseline' })).toMatchObject({ trajectories: 0 })
        expect(await remove({ canary: idOf('k'), arm: 'candidate' })).toMatchObject({ trajectories: 1 })
        expect(await store.traffic.recoverPending(1e12)).toBe(1)
        expect((await store.trajectories.get(TrajectoryId.parse('t2')))?.trajectory.origin).toMatchObject({
          servedBy: null,
        })
      })

      it('go with other traffic: the receipt that they led to keeps what they showed', async () => {
        await store.canaries.put(canaries.canary('k'))
        await served('t1', 'k')
        await store.receipts.put(canaries.receipt('r1'))
        await store.canaries.put(ended('k', { receipt: 'r1' }))
        expect(await remove({ before: 1e15 })).toMatchObject({ trajectories: 1 })
        expect(await store.receipts.get(canaries.receipt('r1').id)).toEqual(canaries.receipt('r1'))
      })

      it('go alone: signals of no trajectory are of no canary', async () => {
        await served('t1', 'k')
        const said = (key: string, trajectory: string) => sample.signal(key, { tenant: 'acme', trajectory })
        await store.signals.append([said('a', 't1'), said('b', 'never')])
        expect(await remove({ canary: idOf('k'), before: 1e15 })).toMatchObject({ trajectories: 1, signals: 1 })
        expect(await remove({ before: 1e15 })).toMatchObject({ trajectories: 0, signals: 1 })
      })

      it('are taken out of what tells their names', async () => {
        await store.canaries.put(canaries.canary('k'))
        await store.traffic.append(traffic.call('t1', 'c1', { origin: { subject: 'ada' } }))
        await store.canaries.appendEvent(canaries.event('k', 0, { evidence: { worst: ['t1', 't2'] } }))
        await store.canaries.appendEvent(canaries.event('k', 1))
        expect(await remove({ subject: 'ada' })).toMatchObject({ trajectories: 1, derived: 1, versions: [] })
        expect((await store.canaries.events(idOf('k'))).map(({ evidence }) => evidence)).toEqual([
          { worst: ['[removed]', 't2'] },
          { wealth: 1.5 },
        ])
      })
    })
  })
}
