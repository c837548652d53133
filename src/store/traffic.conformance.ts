import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  ApiKey,
  Decision,
  KeyId,
  ModelCall,
  mintVersion,
  NodeId,
  type PendingCall,
  type RecordedCall,
  type RecordedTrajectory,
  RunId,
  type Store,
  subjectMark,
  TrafficHead,
  Trajectory,
  type TrajectoryFilter,
  TrajectoryId,
  TrajectoryPart,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import { ErasedCallError, RecordConflictError, UnknownRecordError, UnstorableValueError } from './errors/index.ts'
import { sample } from './store.conformance.ts'

const startedAt = 1_700_000_000_000

/** Traffic to store, as small as its schemas allow. */
export const traffic = {
  head: (id: string, origin: object = {}, change: object = {}): TrafficHead =>
    TrafficHead.parse({
      id,
      origin: {
        kind: 'traffic',
        tenant: 'acme',
        key: 'key-1',
        session: null,
        agent: null,
        subject: null,
        train: true,
        ...origin,
      },
      task: { id: `task of ${id}`, instruction: 'Where is\n\tmy order?' },
      startedAt,
      ...change,
    }),

  part: (call: string, change: object = {}): TrajectoryPart =>
    TrajectoryPart.parse({
      call,
      nodes: [],
      steps: [],
      decisions: [],
      toolsets: {},
      stopReason: 'done',
      failure: null,
      endedAt: startedAt + 1_000,
      ...change,
    }),

  decision: (id: string, change: object = {}): Decision =>
    Decision.parse({
      id,
      step: 0,
      parameter: 'model',
      kind: 'weights',
      version: 'v0',
      generation: 0,
      checkpoint: null,
      inputs: [],
      output: null,
      propensity: { log: null, reason: 'closed-api' },
      ...change,
    }),

  modelCall: (id: string, change: object = {}): ModelCall =>
    ModelCall.parse({
      id,
      choice: 0,
      model: 'small',
      upstream: 'main',
      servedModel: 'small-1',
      params: {},
      tools: null,
      finish: 'stop',
      usage: null,
      upstreamId: null,
      startedAt,
      firstTokenMs: null,
      totalMs: 1_000,
      retryOf: null,
      ...change,
    }),

  /** A call that asks one thing after `after` (a node) and gets one answer, `${call}-a`. */
  call: (trajectory: string, call: string, change: CallChange = {}): RecordedCall => {
    const { after = null, origin, part, turns = [], identity = null, head } = change
    return {
      head: traffic.head(trajectory, origin, head),
      part: traffic.part(call, {
        nodes: [
          { id: `${call}-q`, parent: after, message: { role: 'user', content: `${call}?` }, spans: [], at: 5 },
          { id: `${call}-a`, parent: `${call}-q`, message: { role: 'assistant', content: `${call}.` }, spans: [] },
        ],
        steps: [{ index: 0, action: `${call}-a`, observations: [], decisions: ['d0'], call: traffic.modelCall(call) }],
        decisions: [traffic.decision('d0', { inputs: [`${call}-q`], output: `${call}-a` })],
        ...part,
      }),
      turns: turns.map((digest) => ({ digest, node: NodeId.parse(`${call}-a`) })),
      identity,
    }
  },

  pending: (trajectory: string, call: string, updatedAt: number, change: CallChange = {}): PendingCall => {
    const { head, part } = traffic.call(trajectory, call, { ...change, part: { stopReason: 'interrupted' } })
    return { call: part.call, gateway: 'gateway-1', head, part, updatedAt }
  },

  key: (id: string, change: object = {}): ApiKey =>
    ApiKey.parse({
      id,
      tenant: 'acme',
      name: 'for tests',
      secretHash: 'ab'.repeat(32),
      scopes: ['infer', 'signal'],
      session: null,
      agent: 'support',
      subject: null,
      train: true,
      limits: { requestsPerMinute: 60, concurrency: null, bodyBytes: null },
      createdAt: 10,
      expiresAt: 20,
      revokedAt: null,
      ...change,
    }),
}

interface CallChange {
  readonly after?: string | null
  readonly origin?: object
  readonly head?: object
  readonly part?: object
  readonly turns?: readonly string[]
  readonly identity?: RecordedCall['identity']
}

const idOf = (id: string) => TrajectoryId.parse(id)

/** What every Store does with traffic, keys, signals and removal, whatever is under it. `open` gives an empty one. */
export function trafficConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: a Store of traffic`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    const trajectoryOf = async (id: string) =>
      present(await store.trajectories.get(idOf(id)), `trajectory ${id}`).trajectory
    const summaryOf = async (id: string) =>
      present(
        (await store.trajectories.summaries({ limit: 1_000 })).find((summary) => summary.id === id),
        `summary of ${id}`,
      )

    describe('calls', () => {
      it('open a trajectory and add to it', async () => {
        const first = traffic.call('t1', 'c1')
        await store.traffic.append(first)
        const opened = present(await store.trajectories.get(idOf('t1')), 'it')
        expect(opened.run).toBeNull()
        expect(opened.reward).toMatchObject({ status: 'missing', value: null })
        expect(opened.trajectory).toMatchObject({
          id: 't1',
          origin: first.head.origin,
          task: { ...first.head.task, split: 'train' },
          group: 't1',
          nodes: first.part.nodes,
          stopReason: 'done',
          startedAt,
          seconds: 1,
        })

        const failure = { code: 'model/cut', message: 'The upstream went away.' }
        await store.traffic.append(
          traffic.call('t1', 'c2', {
            after: 'c1-a',
            part: { endedAt: startedAt + 7_500, stopReason: 'model-error', failure },
          }),
        )
        const grown = await trajectoryOf('t1')
        expect(Trajectory.parse(grown)).toEqual(grown)
        expect(grown.nodes.map(({ id }) => id)).toEqual(['c1-q', 'c1-a', 'c2-q', 'c2-a'])
        expect(grown.steps.map(({ index, decisions }) => [index, decisions.length])).toEqual([
          [0, 1],
          [1, 1],
        ])
        expect(grown.decisions.map(({ step, output }) => [step, output])).toEqual([
          [0, 'c1-a'],
          [1, 'c2-a'],
        ])
        expect(grown).toMatchObject({ stopReason: 'model-error', failure, seconds: 7.5 })
        expect(await store.trajectories.list({ limit: 5 })).toEqual([
          { trajectory: grown, reward: opened.reward, run: null },
        ])
      })

      it('are known again: the same changes nothing, another is refused', async () => {
        const [first, second] = [
          traffic.call('t1', 'c1', { turns: ['one'], identity: { key: 'k', body: 'b' } }),
          traffic.call('t1', 'c2', { after: 'c1-a', part: { stopReason: 'cancelled' } }),
        ]
        await store.traffic.append(first)
        await store.traffic.append(second)
        const before = [await trajectoryOf('t1'), await summaryOf('t1')]
        await store.traffic.append(structuredClone(first))
        expect([await trajectoryOf('t1'), await summaryOf('t1')]).toEqual(before)
        expect(await store.traffic.turns('key-1', 'acme', ['one'])).toHaveLength(1)

        const other = traffic.call('t1', 'c1', { part: { endedAt: 1 } })
        await expect(store.traffic.append(other)).rejects.toThrow(RecordConflictError)
        await expect(store.traffic.append(traffic.call('t2', 'c1'))).rejects.toThrow(RecordConflictError)
        expect([await trajectoryOf('t1'), await summaryOf('t1')]).toEqual(before)
        expect(await store.trajectories.count({})).toBe(1)
      })

      it('never enter what another tenant owns, or what was written whole', async () => {
        await store.traffic.append(traffic.call('t1', 'c1'))
        await store.trajectories.append([sample.recorded('t2')])
        const intruder = { origin: { tenant: 'other', train: false, subject: 'them' } }
        for (const id of ['t1', 't2']) {
          await expect(store.traffic.append(traffic.call(id, `c-${id}`, intruder))).rejects.toThrow(RecordConflictError)
        }
        const asDefault = traffic.call('t2', 'c3', { origin: { tenant: 'default' } })
        await expect(store.traffic.append(asDefault)).rejects.toThrow(RecordConflictError)
        expect(await trajectoryOf('t1')).toMatchObject({ origin: traffic.head('t1').origin })
        expect((await trajectoryOf('t1')).nodes).toHaveLength(2)
        expect(await trajectoryOf('t2')).toEqual(sample.trajectory('t2'))
      })

      it('say who it is about and which agent, once they know; that learning is forbidden, for good', async () => {
        const grow = (call: string, origin: object) => store.traffic.append(traffic.call('t1', call, { origin }))
        await grow('c1', {})
        expect((await trajectoryOf('t1')).origin).toMatchObject({ subject: null, agent: null, train: true })
        await grow('c2', { subject: 'ada', train: false })
        await grow('c3', { subject: 'bob', agent: 'support', train: true })
        const expected = { subject: 'ada', agent: 'support', train: false }
        expect((await trajectoryOf('t1')).origin).toMatchObject(expected)
        expect(await summaryOf('t1')).toMatchObject(expected)
        expect(await store.trajectories.count({ subject: 'ada' })).toBe(1)
        expect(await store.trajectories.count({ subject: 'bob' })).toBe(1)
        expect(await store.trajectories.count({ subject: 'eve' })).toBe(0)
      })

      it('change it at their latest end, also when the clock goes back', async () => {
        const grow = (call: string, endedAt: number) =>
          store.traffic.append(traffic.call('t1', call, { part: { endedAt } }))
        await grow('c1', startedAt + 5_000)
        await grow('c2', startedAt + 2_000)
        expect(await summaryOf('t1')).toMatchObject({ updatedAt: startedAt + 5_000, calls: 2 })
        expect((await trajectoryOf('t1')).seconds).toBe(5)
        await grow('c3', startedAt + 9_000)
        expect((await summaryOf('t1')).updatedAt).toBe(startedAt + 9_000)
        await store.traffic.append(traffic.call('t2', 'c4', { part: { endedAt: 1 } }))
        expect(await summaryOf('t2')).toMatchObject({ startedAt, updatedAt: startedAt })
      })

      it('commit at once, many to one trajectory and many to many', async () => {
        const calls = Array.from({ length: 200 }, (_, i) =>
          traffic.call(i % 2 === 0 ? 't' : `t${i}`, `c${i}`, {
            origin: { train: i !== 100 },
            turns: [`digest ${i}`],
            part: { endedAt: startedAt + i, ...(i > 2 && i % 2 === 0 ? { nodes: nodesAfter(i) } : {}) },
          }),
        )
        await Promise.all(calls.map((call) => store.traffic.append(call)))
        const one = await trajectoryOf('t')
        expect(Trajectory.parse(one)).toEqual(one)
        expect(new Set(one.steps.map(({ call }) => call?.id)).size).toBe(100)
        expect(one.nodes.filter(({ parent }) => parent === null).map(({ id }) => id)).toEqual(['c0-q', 'c2-q'])
        expect(one.origin).toMatchObject({ train: false })
        expect(await summaryOf('t')).toMatchObject({ calls: 100, updatedAt: startedAt + 198 })
        expect(await store.trajectories.count({ origin: 'traffic' })).toBe(101)
        const digests = calls.flatMap(({ turns }) => turns.map(({ digest }) => digest))
        expect(await store.traffic.turns('key-1', 'acme', digests)).toHaveLength(200)
      })

      it('commit from many callers to few trajectories, with signals and half answers among them', async () => {
        let next = 0
        const limits = { caps: { perTrajectory: 1_000, perTrajectoryOfKey: 1_000, perDay: 1_000 }, now: 5 }
        const caller = async () => {
          while (next < 400) {
            const n = next++
            const id = `t${Math.imul(n, 0x9e3779b1) >>> 29}`
            await Promise.all([
              store.traffic.savePending(traffic.pending(id, `c${n}`, 100)),
              store.signals.append([sample.signal(`s${n}`, { tenant: 'acme', reporter: `r${n % 7}` })], limits),
            ])
            await store.traffic.append(traffic.call(id, `c${n}`))
          }
        }
        await Promise.all(Array.from({ length: 64 }, caller))
        const summaries = await store.trajectories.summaries({ limit: 10 })
        expect(summaries.reduce((sum, { calls }) => sum + (calls ?? 0), 0)).toBe(400)
        expect(await store.traffic.recoverPending(1e12)).toBe(0)
      })

      it('commit once when many bring the same one', async () => {
        const call = traffic.call('t1', 'c1', { turns: ['one'] })
        await Promise.all(Array.from({ length: 20 }, () => store.traffic.append(call)))
        expect((await trajectoryOf('t1')).steps).toHaveLength(1)
        expect(await store.traffic.turns('key-1', 'acme', ['one'])).toHaveLength(1)
      })

      it('are refused whole when JSON would change them', async () => {
        const broken = traffic.call('t1', 'c1', { turns: ['one'] })
        broken.part.endedAt = Number.NaN
        await expect(store.traffic.append(broken)).rejects.toThrow(UnstorableValueError)
        expect(await store.trajectories.count({})).toBe(0)
      })

      it('hold any text', async () => {
        let next = 0
        await fc.assert(
          fc.asyncProperty(fc.string({ unit: 'binary' }), async (content) => {
            const id = `t${next++}`
            const nodes = [{ id: 'n0', parent: null, message: { role: 'user', content }, spans: [] }]
            const call = traffic.call(id, `c-${id}`, {
              head: { task: { id: 'task', instruction: content } },
              part: { nodes, steps: [], decisions: [] },
            })
            await store.traffic.append(call)
            const trajectory = await trajectoryOf(id)
            expect(trajectory.nodes).toEqual(call.part.nodes)
            expect(trajectory.task.instruction).toBe(content)
          }),
          { numRuns: 50 },
        )
      })

      it('are part of a transaction where they are written through one', async () => {
        const failure = new Error('no')
        const broken = store.transaction(async (tx) => {
          await tx.traffic.append(traffic.call('t1', 'c1'))
          expect(await tx.trajectories.get(idOf('t1'))).not.toBeNull()
          throw failure
        })
        await expect(broken).rejects.toBe(failure)
        expect(await store.trajectories.get(idOf('t1'))).toBeNull()
      })
    })

    describe('half answers', () => {
      it('become parts that say so, when nobody has been at them', async () => {
        await store.traffic.append(traffic.call('t1', 'c1'))
        await store.traffic.savePending(traffic.pending('t1', 'c2', 100))
        await store.traffic.savePending(traffic.pending('t2', 'c3', 200, { origin: { subject: 'ada' } }))
        expect((await trajectoryOf('t1')).steps).toHaveLength(1)
        expect(await store.traffic.recoverPending(100)).toBe(0)
        expect(await store.traffic.recoverPending(200)).toBe(1)
        expect(await trajectoryOf('t1')).toMatchObject({ stopReason: 'interrupted' })
        expect((await trajectoryOf('t1')).steps).toHaveLength(2)
        expect(await store.trajectories.get(idOf('t2'))).toBeNull()
        expect(await store.traffic.recoverPending(201)).toBe(1)
        expect((await trajectoryOf('t2')).origin).toMatchObject({ subject: 'ada' })
        expect(await store.traffic.recoverPending(1e12)).toBe(0)
      })

      it('are what a stream said last, and go when it is committed', async () => {
        const later = traffic.pending('t1', 'c1', 200)
        await store.traffic.savePending(traffic.pending('t1', 'c1', 100, { origin: { agent: 'early' } }))
        await store.traffic.savePending({
          ...later,
          part: { ...later.part, nodes: later.part.nodes.slice(0, 1), steps: [], decisions: [] },
        })
        expect(await store.traffic.recoverPending(150)).toBe(0)
        expect(await store.traffic.recoverPending(300)).toBe(1)
        expect((await trajectoryOf('t1')).nodes).toHaveLength(1)

        await store.traffic.savePending(traffic.pending('t2', 'c2', 100))
        await store.traffic.append(traffic.call('t2', 'c2'))
        await store.traffic.savePending(traffic.pending('t2', 'c2', 100))
        expect(await store.traffic.recoverPending(1e12)).toBe(0)
        expect(await trajectoryOf('t2')).toMatchObject({ stopReason: 'done' })
      })

      it('are recovered once, however many try', async () => {
        const calls = Array.from({ length: 30 }, (_, i) => `c${i}`)
        await Promise.all(calls.map((call, i) => store.traffic.savePending(traffic.pending(`t${i % 3}`, call, 100))))
        const counts = await Promise.all([1, 2, 3, 4].map(() => store.traffic.recoverPending(200)))
        expect(counts.reduce((sum, count) => sum + count)).toBe(30)
        for (const id of ['t0', 't1', 't2']) expect((await trajectoryOf(id)).steps).toHaveLength(10)
      })

      it('give way to the whole answer of whoever was given up too early', async () => {
        await store.traffic.append(traffic.call('t1', 'c1'))
        await store.traffic.savePending(traffic.pending('t1', 'c2', 100))
        expect(await store.traffic.recoverPending(200)).toBe(1)
        const whole = traffic.call('t1', 'c2', { turns: ['two'] })
        await store.traffic.append(whole)
        await store.traffic.append(whole)
        expect(await trajectoryOf('t1')).toMatchObject({ stopReason: 'done' })
        expect((await trajectoryOf('t1')).steps).toHaveLength(2)
        expect(await summaryOf('t1')).toMatchObject({ calls: 2, stopReason: 'done' })
        expect(await store.traffic.turns('key-1', 'acme', ['two'])).toHaveLength(1)
        // And a half answer never takes the place of a whole one.
        const { head, part } = traffic.pending('t1', 'c2', 300)
        await expect(store.traffic.append({ head, part, turns: [], identity: null })).rejects.toThrow(
          RecordConflictError,
        )
      })
    })

    describe('what is known again', () => {
      it('are turns of one key of one tenant, the latest first', async () => {
        await store.traffic.append(traffic.call('t1', 'c1', { turns: ['one', 'two'] }))
        await store.traffic.append(traffic.call('t2', 'c2', { turns: ['two'] }))
        await store.traffic.append(traffic.call('t3', 'c3', { turns: ['two'], origin: { key: 'key-2' } }))
        await store.traffic.append(traffic.call('t4', 'c4', { turns: ['two'], origin: { tenant: 'other' } }))
        expect(await store.traffic.turns('key-1', 'acme', ['two', 'none', 'one', 'two'])).toEqual([
          { digest: 'two', node: 'c2-a', trajectory: 't2' },
          { digest: 'two', node: 'c1-a', trajectory: 't1' },
          { digest: 'one', node: 'c1-a', trajectory: 't1' },
        ])
        expect((await store.traffic.turns('key-1', 'other', ['two'])).map(({ trajectory }) => trajectory)).toEqual([
          't4',
        ])
        expect(await store.traffic.turns('key-2', 'other', ['two'])).toEqual([])
        expect(await store.traffic.turns('key-1', 'acme', [])).toEqual([])
      })

      it('is a long conversation, also among very many short ones that begin like it', async () => {
        await store.traffic.append(traffic.call('long', 'c-long', { turns: ['hello', 'the rest of it'] }))
        const short = Array.from({ length: 100 }, (_, i) => traffic.call(`t${i}`, `c${i}`, { turns: ['hello'] }))
        for (const call of short) await store.traffic.append(call)
        const known = await store.traffic.turns('key-1', 'acme', ['hello', 'the rest of it'])
        expect(known.length).toBeLessThanOrEqual(64)
        expect(known[0]).toEqual({ digest: 'hello', node: 'c99-a', trajectory: 't99' })
        expect(known.at(-1)).toEqual({ digest: 'the rest of it', node: 'c-long-a', trajectory: 'long' })
      })

      it('is a turn among as many digests as a conversation has', async () => {
        await store.traffic.append(traffic.call('t1', 'c1', { turns: ['digest 1234', 'digest 7'] }))
        const digests = Array.from({ length: 2_000 }, (_, i) => `digest ${i}`)
        const known = await store.traffic.turns('key-1', 'acme', digests)
        expect(known.map(({ digest }) => digest).toSorted()).toEqual(['digest 1234', 'digest 7'])
      })

      it('are requests of one key of one tenant: the latest with an identity', async () => {
        const identity = { key: 'k', body: 'b1' }
        await store.traffic.append(traffic.call('t1', 'c1', { identity }))
        await store.traffic.append(
          traffic.call('t2', 'c2', { identity: { key: 'k', body: 'b2' }, origin: { key: 'key-2' } }),
        )
        await store.traffic.append(
          traffic.call('t3', 'c3', { identity: { key: 'k', body: 'b3' }, origin: { tenant: 'other' } }),
        )
        expect(await store.traffic.request('key-1', 'acme', { key: 'k', body: 'else' })).toEqual({
          body: 'b1',
          trajectory: 't1',
          call: 'c1',
        })
        expect((await store.traffic.request('key-2', 'acme', identity))?.body).toBe('b2')
        expect((await store.traffic.request('key-1', 'other', identity))?.body).toBe('b3')
        expect(await store.traffic.request('key-2', 'other', identity)).toBeNull()
        expect(await store.traffic.request('key-1', 'acme', { ...identity, key: 'K' })).toBeNull()
        await store.traffic.append(traffic.call('t1', 'c4', { identity: { key: 'k', body: 'b4' } }))
        expect(await store.traffic.request('key-1', 'acme', identity)).toMatchObject({ body: 'b4', call: 'c4' })
      })
    })

    describe('API keys', () => {
      it('come back as they were, newest first', async () => {
        const [a, b, c] = [
          traffic.key('a'),
          traffic.key('b', { tenant: 'other', expiresAt: null, scopes: ['admin'], subject: 'ada' }),
          traffic.key('c', { session: 'chat 7', parent: 'a', train: false, agent: null }),
        ]
        for (const key of [a, b, c]) await store.keys.put(key)
        await store.keys.put(structuredClone(a))
        for (const key of [a, b, c]) expect(await store.keys.get(key.id)).toEqual(key)
        expect(await store.keys.get(KeyId.parse('z'))).toBeNull()
        expect(await store.keys.list({ limit: 10 })).toEqual([c, b, a])
        expect(await store.keys.list({ limit: 2 })).toEqual([c, b])
        expect(await store.keys.list({ tenant: 'acme', limit: 10 })).toEqual([c, a])
        expect(await store.keys.list({ sessions: false, limit: 10 })).toEqual([b, a])
        expect(await store.keys.list({ sessions: false, tenant: 'acme', limit: 10 })).toEqual([a])
        expect(await store.keys.list({ sessions: true, limit: 10 })).toEqual([c, b, a])
      })

      it('are written once, and revoked for good', async () => {
        const key = traffic.key('a')
        await store.keys.put(key)
        await expect(store.keys.put({ ...key, scopes: ['admin'] })).rejects.toThrow(RecordConflictError)
        expect(await store.keys.revoke(key.id, 50)).toBe(true)
        expect(await store.keys.revoke(key.id, 60)).toBe(true)
        expect(await store.keys.get(key.id)).toEqual({ ...key, revokedAt: 50 })
        await expect(store.keys.put(key)).rejects.toThrow(RecordConflictError)
        expect((await store.keys.get(key.id))?.revokedAt).toBe(50)
        expect(await store.keys.revoke(KeyId.parse('z'), 50)).toBe(false)
      })

      it('of sessions go when they have expired, the longest expired first; others stay', async () => {
        const ofSession = (id: string, expiresAt: number | null) =>
          traffic.key(id, { session: `chat ${id}`, expiresAt })
        const keys = [ofSession('a', 30), ofSession('b', 10), ofSession('c', 20), ofSession('d', null)]
        for (const key of [...keys, traffic.key('person', { expiresAt: 5 })]) await store.keys.put(key)
        await store.keys.revoke(KeyId.parse('b'), 9)
        const left = async () => (await store.keys.list({ limit: 10 })).map(({ id }) => id)
        expect(await store.keys.removeExpired(10, 9)).toBe(0)
        expect(await store.keys.removeExpired(31, 2)).toBe(2)
        expect(await left()).toEqual(['person', 'd', 'a'])
        expect(await Promise.all([store.keys.removeExpired(31, 9), store.keys.removeExpired(31, 9)])).toContain(1)
        expect(await left()).toEqual(['person', 'd'])
      })
    })

    describe('signals', () => {
      const signal = (key: string, change: object = {}) => sample.signal(key, { tenant: 'acme', ...change })
      const keysOf = async (id: string) => (await store.signals.of(idOf(id))).map(({ key }) => key)

      it('are seen once their trajectory is there, by its own tenant', async () => {
        const early = signal('early', { value: { kind: 'edit', text: 'Better.' }, node: 'c1-a', reporter: 'ada' })
        await store.signals.append([early, signal('theirs', { tenant: 'other' })])
        expect(await store.signals.of(idOf('t1'))).toEqual([])
        await store.traffic.append(traffic.call('t1', 'c1'))
        await store.signals.append([signal('late', { at: 2 }), signal('also theirs', { tenant: 'default' })])
        expect(await store.signals.of(idOf('t1'))).toEqual([signal('late', { at: 2 }), early])
        expect(await store.signals.of(idOf('t1'), early.tenant)).toHaveLength(2)
        expect(await store.signals.of(idOf('t1'), 'other')).toEqual([])
        expect((await summaryOf('t1')).signals).toBe(2)
      })

      it('count once for each key of a tenant, also within one batch', async () => {
        await store.traffic.append(traffic.call('t1', 'c1'))
        const outcomes = await store.signals.append([
          signal('a'),
          signal('b'),
          signal('a', { value: 0 }),
          signal('a', { tenant: 'other' }),
        ])
        expect(outcomes).toEqual(['recorded', 'recorded', 'repeated', 'recorded'])
        expect(await store.signals.append([signal('b'), signal('c')])).toEqual(['repeated', 'recorded'])
        expect(await store.signals.append([])).toEqual([])
        expect(await keysOf('t1')).toEqual(['a', 'b', 'c'])
        expect((await store.signals.of(idOf('t1')))[0]?.value).toBe(1)
      })

      it('come in batches of any size, and at once', async () => {
        await store.traffic.append(traffic.call('t1', 'c1'))
        const many = Array.from({ length: 1_000 }, (_, i) => signal(`k${i % 700}`))
        const outcomes = await store.signals.append(many)
        expect(outcomes.filter((outcome) => outcome === 'recorded')).toHaveLength(700)
        expect(outcomes.slice(700)).toEqual(Array.from({ length: 300 }, () => 'repeated'))
        const limits = { caps: { perTrajectory: 10_000, perTrajectoryOfKey: 10_000, perDay: 10_000 }, now: 5 }
        const again = await Promise.all(
          Array.from({ length: 20 }, (_, i) => store.signals.append([signal(`new ${i % 10}`)], limits)),
        )
        expect(again.flat().filter((outcome) => outcome === 'recorded')).toHaveLength(10)
        expect(await keysOf('t1')).toHaveLength(710)
      })

      describe('with caps', () => {
        const now = 100 * 24 * 60 * 60 * 1000
        const limits = { caps: { perTrajectory: 3, perTrajectoryOfKey: 4, perDay: 5 }, now }
        const say = (key: string, change: object = {}) => store.signals.append([signal(key, change)], limits)

        it('say so much about one trajectory, and no more', async () => {
          expect(
            await store.signals.append(
              ['a', 'b', 'c', 'd', 'a'].map((key) => signal(key)),
              limits,
            ),
          ).toEqual(['recorded', 'recorded', 'recorded', 'capped', 'repeated'])
          expect(await say('b')).toEqual(['repeated'])
          expect(await say('d')).toEqual(['capped'])
          expect(await say('d', { reporter: 'another' })).toEqual(['recorded'])
          expect(await say('e', { tenant: 'other' })).toEqual(['recorded'])
          expect(await say('e', { trajectory: 't2' })).toEqual(['recorded'])
        })

        it('say so much about one trajectory by all names of one key, and no more', async () => {
          const said = (key: string, reporter: string) => say(key, { reporter })
          const as = ['k:ann', 'k:bob', 'k', 'k:eve'].map((reporter, i) => said(`a${i}`, reporter))
          expect((await Promise.all(as)).flat()).toEqual(Array.from({ length: 4 }, () => 'recorded'))
          for (const reporter of ['k:new', 'k', 'k:ann']) expect(await said('b', reporter)).toEqual(['capped'])
          expect(await said('b', 'k2:new')).toEqual(['recorded'])
          expect(await say('c', { reporter: 'k:new', trajectory: 't2' })).toEqual(['recorded'])
          expect(await say('c', { reporter: 'k:new', tenant: 'other' })).toEqual(['recorded'])
        })

        it('say so much in a day', async () => {
          const about = (i: number) => ({ trajectory: `t${i}` })
          const yesterday = { ...limits, now: now - 24 * 60 * 60 * 1000 }
          for (const key of ['a', 'b']) await store.signals.append([signal(key, about(0))], yesterday)
          for (let i = 0; i < 5; i++) expect(await say(`k${i}`, about(i + 1))).toEqual(['recorded'])
          expect(await say('k5', about(9))).toEqual(['capped'])
          expect(await say('k5', { ...about(9), tenant: 'other' })).toEqual(['recorded'])
          const anHourOn = { ...limits, now: now + 60 * 60 * 1000 }
          expect(await store.signals.append([signal('k6', about(9))], anHourOn)).toEqual(['capped'])
          const aDayOn = { ...limits, now: now + 24 * 60 * 60 * 1000 }
          expect(await store.signals.append([signal('k6', about(9))], aDayOn)).toEqual(['recorded'])
        })

        it('hold when many say something at once', async () => {
          const outcomes = await Promise.all(Array.from({ length: 40 }, (_, i) => say(`k${i}`)))
          expect(outcomes.flat().filter((outcome) => outcome === 'recorded')).toHaveLength(3)
          const others = await Promise.all(Array.from({ length: 40 }, (_, i) => say(`l${i}`, { trajectory: `x${i}` })))
          expect(others.flat().filter((outcome) => outcome === 'recorded')).toHaveLength(2)
        })
      })
    })

    describe('lists', () => {
      const imported = (id: string, change: object = {}): RecordedTrajectory => ({
        ...sample.recorded(id),
        trajectory: sample.trajectory(id, {
          origin: { kind: 'import', tenant: 'acme', format: 'atif', metadata: { source: 'x' } },
          startedAt: startedAt - 10_000,
          ...change,
        }),
      })

      beforeEach(async () => {
        await store.runs.create(sample.run('run-1'))
        await store.trajectories.append([sample.recorded('rollout', 'run-1'), imported('import')])
        const call = (id: string, at: number, origin: object) =>
          store.traffic.append(traffic.call(id, `c-${id}`, { origin, part: { endedAt: startedAt + at } }))
        await call('one', 1_000, { session: 's', agent: 'support', subject: 'ada' })
        await call('two', 3_000, { session: 's', agent: 'sales', tenant: 'other' })
        await call('three', 2_000, { subject: 'ada' })
        await store.traffic.append(traffic.call('one', 'c4', { part: { endedAt: startedAt + 1_500 } }))
      })

      const filters: readonly [string, TrajectoryFilter, readonly string[]][] = [
        ['everything', {}, ['rollout', 'import', 'one', 'two', 'three']],
        ['a run', { run: RunId.parse('run-1') }, ['rollout']],
        ['a tenant', { tenant: 'acme' }, ['import', 'one', 'three']],
        ['the tenant of whoever names none', { tenant: 'default' }, ['rollout']],
        ['an origin', { origin: 'traffic' }, ['one', 'two', 'three']],
        ['imports of a tenant', { origin: 'import', tenant: 'acme' }, ['import']],
        ['a session', { session: 's' }, ['one', 'two']],
        ['a session of a tenant', { session: 's', tenant: 'other' }, ['two']],
        ['an agent', { agent: 'support' }, ['one']],
        ['a subject', { subject: 'ada' }, ['one', 'three']],
        ['a time', { since: startedAt + 1_500, before: startedAt + 3_000 }, ['one', 'three']],
        ['the past', { before: startedAt + 1_500 }, ['rollout', 'import']],
        ['nothing', { subject: 'nobody' }, []],
      ]
      it.each(filters)('have %s', async (_, filter, expected) => {
        const listed = await store.trajectories.list({ ...filter, limit: 10 })
        expect(listed.map(({ trajectory }) => trajectory.id)).toEqual(expected)
        expect(await store.trajectories.count(filter)).toBe(expected.length)
        const summaries = await store.trajectories.summaries({ ...filter, limit: 10 })
        expect(summaries.map(({ id }) => id).toSorted()).toEqual(expected.toSorted())
      })

      it('go on after any trajectory', async () => {
        const pages: string[][] = []
        let after: TrajectoryId | undefined
        do {
          const page = await store.trajectories.list({ limit: 2, ...(after === undefined ? {} : { after }) })
          pages.push(page.map(({ trajectory }) => trajectory.id))
          after = page.at(-1)?.trajectory.id
        } while (after !== undefined && pages.length < 9)
        expect(pages).toEqual([['rollout', 'import'], ['one', 'two'], ['three'], []])
        const rest = await store.trajectories.list({ tenant: 'acme', after: idOf('two'), limit: 5 })
        expect(rest.map(({ trajectory }) => trajectory.id)).toEqual(['three'])
        await expect(store.trajectories.list({ limit: 2, after: idOf('none') })).rejects.toThrow(UnknownRecordError)
      })

      it('show what is known without the messages, latest change first', async () => {
        await store.signals.append([sample.signal('a', { trajectory: 'one', tenant: 'acme' })])
        const summaries = await store.trajectories.summaries({ limit: 10 })
        expect(summaries.map(({ id }) => id)).toEqual(['two', 'three', 'one', 'rollout', 'import'])
        expect(summaries[2]).toEqual({
          id: 'one',
          origin: 'traffic',
          tenant: 'acme',
          session: 's',
          agent: 'support',
          subject: 'ada',
          train: true,
          instruction: 'Where is my order?',
          stopReason: 'done',
          startedAt,
          updatedAt: startedAt + 1_500,
          calls: 2,
          signals: 1,
        })
        expect(summaries[4]).toMatchObject({ origin: 'import', tenant: 'acme', calls: null, signals: 0, agent: null })
        expect(await store.trajectories.summaries({ limit: 2 })).toEqual(summaries.slice(0, 2))
      })

      it('are shown in the order in which they began, page by page and until a moment', async () => {
        const begin = (id: string, after: number) =>
          store.traffic.append(
            traffic.call(id, `c-${id}`, {
              head: { startedAt: startedAt + after },
              part: { endedAt: startedAt + 50_000 - after },
            }),
          )
        for (const [id, after] of [
          ['d', 300],
          ['b', 200],
          ['c', 200],
          ['a', 100],
          ['e', 400],
        ] as const)
          await begin(id, after)
        const pages: string[][] = []
        let after = { startedAt, id: 'two' }
        for (;;) {
          const began = { after, until: startedAt + 300 }
          const page = await store.trajectories.summaries({ origin: 'traffic', began, limit: 2 })
          pages.push(page.map(({ id }) => id))
          const last = page.at(-1)
          if (!last) break
          after = last
        }
        expect(pages).toEqual([['a', 'b'], ['c', 'd'], []])
        const last = { after: { startedAt, id: 'two' }, until: startedAt + 300, latestFirst: true }
        const latest = await store.trajectories.summaries({ origin: 'traffic', began: last, limit: 3 })
        expect(latest.map(({ id }) => id)).toEqual(['d', 'c', 'b'])
        const began = { after: { startedAt: 0, id: '' }, until: startedAt }
        const others = await store.trajectories.summaries({ origin: 'traffic', agent: 'support', began, limit: 9 })
        expect(others.map(({ id }) => id)).toEqual(['one'])
      })

      it('show one line of an instruction', async () => {
        const instruction = ` ${'\u0000 \n'.repeat(50)}${'🙂'.repeat(500)}`
        await store.traffic.append(traffic.call('t9', 'c9', { head: { task: { id: 'task', instruction } } }))
        const { instruction: line } = await summaryOf('t9')
        expect(line).toBe(`${'🙂'.repeat(199)}…`)
        expect((await trajectoryOf('t9')).task.instruction).toBe(instruction)
      })
    })

    describe('removal', () => {
      /** All that names a trajectory, through the ports. */
      const traces = async (id: string) => ({
        trajectory: await store.trajectories.get(idOf(id)),
        signals: await store.signals.of(idOf(id)),
        turns: (await store.traffic.turns('key-1', 'acme', [`turn of ${id}`])).length,
        request: await store.traffic.request('key-1', 'acme', { key: `request of ${id}`, body: '' }),
      })
      const nothing = { trajectory: null, signals: [], turns: 0, request: null }

      const record = async (id: string, change: CallChange = {}) => {
        await store.traffic.append(
          traffic.call(id, `c-${id}`, {
            turns: [`turn of ${id}`],
            identity: { key: `request of ${id}`, body: 'b' },
            ...change,
          }),
        )
        await store.traffic.append(traffic.call(id, `d-${id}`, { after: `c-${id}-a` }))
        const signals = ['a', 'b'].map((key) => sample.signal(`${key}-${id}`, { trajectory: id, tenant: 'acme' }))
        await store.signals.append(signals)
      }
      /** What a dry run says is what a real one does. By default before every call of these tests began. */
      const remove = async (filter: TrajectoryFilter, now = startedAt - 1) => {
        const counted = await store.trajectories.remove(filter, { dryRun: true, now })
        const { remains, ...removed } = await store.trajectories.remove(filter, { dryRun: false, now })
        expect(['nowhere', 'dead-rows']).toContain(remains)
        expect(counted).toEqual({ ...removed, remains: 'nowhere' })
        return removed
      }

      it('takes trajectories with all by which they are known', async () => {
        await record('t1', { origin: { subject: 'ada' } })
        await record('t2')
        await store.signals.append([sample.signal('x', { trajectory: 't1', tenant: 'other' })])
        const kept = await traces('t2')
        expect(await store.trajectories.remove({ subject: 'ada' }, { dryRun: true })).toEqual({
          trajectories: 1,
          signals: 2,
          derived: 0,
          keys: 0,
          versions: [],
          remains: 'nowhere',
        })
        expect((await traces('t1')).turns).toBe(1)
        expect(await remove({ subject: 'ada' })).toMatchObject({ trajectories: 1, signals: 2 })
        expect(await traces('t1')).toEqual(nothing)
        expect(await traces('t2')).toEqual(kept)
        expect(await remove({ subject: 'ada' })).toMatchObject({
          trajectories: 0,
          signals: 0,
          derived: 0,
          versions: [],
        })

        // Nothing is left that a new trajectory of that name would find.
        await record('t1')
        expect((await traces('t1')).signals).toHaveLength(2)
        expect((await trajectoryOf('t1')).steps).toHaveLength(2)
      })

      it('takes a trajectory by any person whom a call of it is about', async () => {
        const grow = (id: string, call: string, subject: string | null, tenant = 'acme') =>
          store.traffic.append(traffic.call(id, call, { origin: { subject, tenant } }))
        await grow('t1', 'c1', 'ada')
        for (const call of ['c2', 'c3']) await grow('t1', call, 'bob')
        await store.traffic.savePending(traffic.pending('t1', 'p1', 100, { origin: { subject: 'cleo' } }))
        await store.traffic.recoverPending(200)
        await grow('t1', 'c4', null)
        await grow('t2', 'c5', 'ada')
        await grow('t3', 'c6', 'bob', 'other')
        expect((await trajectoryOf('t1')).origin).toMatchObject({ subject: 'ada' })
        const cleo = await store.trajectories.summaries({ subject: 'cleo', limit: 9 })
        expect(cleo.map(({ id }) => id)).toEqual(['t1'])
        expect(await remove({ subject: 'bob', tenant: 'acme' })).toMatchObject({ trajectories: 1 })
        expect((await store.trajectories.list({ limit: 9 })).map(({ trajectory }) => trajectory.id)).toEqual([
          't2',
          't3',
        ])
        await grow('t1', 'c7', 'ada')
        expect(await store.trajectories.count({ subject: 'cleo' })).toBe(0)
        expect(await store.trajectories.count({ subject: 'bob' })).toBe(1)
      })

      it('takes half answers too, also of what is known by nothing else', async () => {
        await record('t1', { origin: { subject: 'ada' } })
        const about = { origin: { subject: 'ada' } }
        await store.traffic.savePending(traffic.pending('t1', 'p1', 100, about))
        await store.traffic.savePending(traffic.pending('t2', 'p2', 100, about))
        await store.traffic.savePending(traffic.pending('t2', 'p3', 100, about))
        await store.traffic.savePending(traffic.pending('t3', 'p4', 100))
        await record('t4')
        await store.traffic.savePending(traffic.pending('t4', 'p5', 100, about))
        expect(await remove({ subject: 'ada', tenant: 'acme' })).toMatchObject({ trajectories: 2 })
        expect(await store.traffic.recoverPending(1e12)).toBe(1)
        expect((await store.trajectories.list({ limit: 9 })).map(({ trajectory }) => trajectory.id)).toEqual([
          't4',
          't3',
        ])
        expect((await trajectoryOf('t4')).origin).toMatchObject({ subject: null })
      })

      it('takes what the person reported, of whatever trajectory, and what was said of their half answers', async () => {
        await record('t1', { origin: { subject: 'ada' } })
        await record('t2')
        await store.traffic.savePending(traffic.pending('t3', 'p3', 100, { origin: { subject: 'ada' } }))
        const say = (key: string, trajectory: string, reporter: string, tenant = 'acme') =>
          sample.signal(key, { trajectory, tenant, reporter })
        await store.signals.append([
          say('s1', 't1', 'open:ada'),
          say('s2', 't2', 'open:ada'),
          say('s3', 't3', 'open:ada'),
          say('s4', 't3', 'open:bob'),
          say('s5', 't9', 'open:ada'),
          say('k1', 't2', 'ada'),
          say('k2', 't2', 'open:team:ada'),
          say('k3', 't2', 'open:nada'),
          say('k4', 't2', 'open:ada', 'other'),
        ])
        expect(await remove({ subject: 'ada', tenant: 'acme' })).toMatchObject({ trajectories: 2, signals: 7 })
        const left = (await store.signals.of(idOf('t2'))).map(({ key }) => key)
        expect(left).toEqual(['a-t2', 'b-t2', 'k1', 'k2', 'k3'])
        expect(await remove({ subject: 'team:ada', tenant: 'acme' })).toMatchObject({ trajectories: 0, signals: 1 })
        expect(await remove({ subject: 'ada', session: 's' })).toMatchObject({ signals: 0 })
        await record('t3')
        expect((await traces('t3')).signals.map(({ key }) => key)).toEqual(['a-t3', 'b-t3'])
      })

      it('takes signals of old about what never came or is gone, and no newer ones', async () => {
        await record('t1')
        await remove({ session: 'none' })
        const now = startedAt + 100_000
        const limits = (at: number) => ({ caps: { perTrajectory: 9, perTrajectoryOfKey: 9, perDay: 99 }, now: at })
        const say = (key: string, trajectory: string, tenant = 'acme') => sample.signal(key, { trajectory, tenant })
        await store.signals.append([say('old', 't1'), say('never', 't9'), say('strange', 't1', 'other')], limits(now))
        await store.signals.append([say('new', 't9')], limits(now + 5_000))
        const before = now + 1
        expect(await remove({ before, tenant: 'acme', session: 's' })).toMatchObject({ signals: 0 })
        expect(await remove({ before: startedAt, origin: 'traffic' })).toMatchObject({ trajectories: 0, signals: 0 })
        await record('t8', { part: { endedAt: now + 50_000 } })
        await store.signals.append([say('kept', 't8')], limits(now))
        expect(await remove({ before, origin: 'traffic' })).toMatchObject({ trajectories: 1, signals: 5 })
        expect((await traces('t8')).signals.map(({ key }) => key)).toEqual(['a-t8', 'b-t8', 'kept'])
        await record('t9')
        expect((await traces('t9')).signals.map(({ key }) => key)).toEqual(['a-t9', 'b-t9', 'new'])
      })

      it('never takes a call that is committed meanwhile and is not of its filter', async () => {
        await record('t1')
        const part = { endedAt: startedAt + 60_000 }
        await Promise.all([
          store.trajectories.remove({ before: startedAt + 30_000 }, { dryRun: false }),
          store.traffic.append(traffic.call('t1', 'late', { after: 'd-t1-a', part })),
        ])
        expect((await trajectoryOf('t1')).steps.map(({ call }) => call?.id)).toContain('late')
      })

      it('stays within its filter: another tenant, another time', async () => {
        await record('t1', { part: { endedAt: startedAt + 10_000 } })
        await record('t2')
        await store.traffic.append(traffic.call('t3', 'c3', { origin: { tenant: 'other', subject: 'ada' } }))
        await store.trajectories.append([sample.recorded('whole')])
        expect(await remove({ subject: 'ada', tenant: 'acme' })).toMatchObject({ trajectories: 0 })
        expect(await remove({ before: startedAt + 2_000, origin: 'traffic' })).toMatchObject({ trajectories: 2 })
        expect((await store.trajectories.list({ limit: 9 })).map(({ trajectory }) => trajectory.id)).toEqual([
          't1',
          'whole',
        ])
        expect(await remove({})).toMatchObject({ trajectories: 2 })
        expect(await store.trajectories.count({})).toBe(0)
      })

      it('leaves what a run made: it is evidence', async () => {
        await store.runs.create(sample.run('run-1'))
        await store.trajectories.append([sample.recorded('t1', 'run-1'), sample.recorded('t2')])
        await store.signals.append([sample.signal('a', { tenant: 'default' })])
        expect(await remove({ run: RunId.parse('run-1') })).toMatchObject({ trajectories: 0, signals: 0 })
        expect(await remove({})).toMatchObject({ trajectories: 1, signals: 0 })
        expect(await trajectoryOf('t1')).toEqual(sample.trajectory('t1'))
        expect(await store.signals.of(idOf('t1'))).toHaveLength(1)
      })

      describe('of what was learned item by item', () => {
        const value = (items: readonly { readonly derivedFrom: readonly string[] }[]) => ({
          kind: 'cases',
          value: { floor: 0.5, items },
        })
        const versionOf = (...items: { readonly derivedFrom: readonly string[] }[]) =>
          mintVersion('cases', value(items), { parents: [], run: RunId.parse('run-1') })
        const ofAda = subjectMark('acme', 'ada')

        it('takes what was made of an erased person from versions and checkpoints, and leaves the rest', async () => {
          await record('t1', { origin: { subject: 'ada' } })
          await record('t2', { origin: { subject: 'bob' } })
          await store.runs.create(sample.run('run-1'))
          const kept = { derivedFrom: ['t2', subjectMark('acme', 'bob')] }
          const other = { derivedFrom: ['t3', subjectMark('other', 'ada')] }
          const byName = { derivedFrom: ['t0', ofAda] }
          const version = versionOf({ derivedFrom: ['t1'] }, kept, byName, other)
          await store.versions.put(version)
          await store.runs.saveCheckpoint(
            sample.checkpoint('run-1', 0, { learners: { cases: [kept, { derivedFrom: ['t2', 't1'] }] } }),
          )
          const revision = await store.releases.revision()

          expect(await remove({ subject: 'ada', tenant: 'acme' })).toMatchObject({ trajectories: 1, derived: 3 })
          expect((await store.versions.get(version.id))?.value).toEqual(value([kept, other]))
          expect((await store.runs.latestCheckpoint(RunId.parse('run-1')))?.state).toEqual({
            learners: { cases: [kept] },
          })
          expect(await store.releases.revision()).toBeGreaterThan(revision)
        })

        it('keeps out what a run that was under way still holds of them', async () => {
          await record('t1', { origin: { subject: 'ada' } })
          await store.runs.create(sample.run('run-1'))
          await remove({ subject: 'ada', tenant: 'acme' })
          const late = versionOf({ derivedFrom: ['t1', ofAda] })
          await expect(store.versions.put(late)).rejects.toMatchObject({ code: 'store/erased-source' })
          const checkpoint = sample.checkpoint('run-1', 0, { items: [{ derivedFrom: ['t1'] }] })
          await expect(store.runs.saveCheckpoint(checkpoint)).rejects.toMatchObject({ code: 'store/erased-source' })
          expect(await store.versions.get(late.id)).toBeNull()
          // Somebody of that name may come again, and be learned from.
          await store.versions.put(versionOf({ derivedFrom: ['t9', ofAda] }))
        })

        it('leaves what was learned where sessions go by age alone', async () => {
          await record('t1', { origin: { subject: 'ada' } })
          await store.runs.create(sample.run('run-1'))
          const version = versionOf({ derivedFrom: ['t1', ofAda] })
          await store.versions.put(version)
          await remove({ before: Number.MAX_SAFE_INTEGER })
          expect((await store.versions.get(version.id))?.value).toEqual(version.value)
        })
      })

      it('takes the names out of what was derived, and says what was learned', async () => {
        await record('t1', { origin: { subject: 'ada' } })
        await record('t2')
        const event = (run: string, sequence: number, data: object) => ({
          run: RunId.parse(run),
          sequence,
          type: 'read',
          data: { ...data },
          at: 1,
        })
        for (const run of ['run-1', 'run-2']) await store.runs.create(sample.run(run))
        const learned = mintVersion(
          'system',
          { kind: 'text', text: 'Be brief.' },
          { parents: [], run: RunId.parse('run-1') },
        )
        await store.versions.put(learned)
        await store.versions.put(sample.version('Be long.', 'run-2'))
        const events = [
          event('run-1', 0, { loss: 0.5, read: ['t1', 't2'], text: 'as in t1, and not in t10 or at1' }),
          event('run-1', 1, { by: { t1: 1 } }),
          event('run-2', 0, { read: ['t2'] }),
        ]
        await store.runs.appendEvents(events)
        await store.runs.saveCheckpoint(sample.checkpoint('run-1', 0, { next: 't1' }))

        expect(await remove({ subject: 'ada' })).toEqual({
          trajectories: 1,
          signals: 2,
          derived: 3,
          keys: 0,
          versions: [learned.id],
        })
        expect((await store.runs.events(RunId.parse('run-1'))).map(({ data }) => data)).toEqual([
          { loss: 0.5, read: ['[removed]', 't2'], text: 'as in [removed], and not in t10 or at1' },
          { by: { '[removed]': 1 } },
        ])
        expect(await store.runs.events(RunId.parse('run-2'))).toEqual(events.slice(2))
        expect((await store.runs.latestCheckpoint(RunId.parse('run-1')))?.state).toEqual({ next: '[removed]' })
      })

      it('keeps out what calls that began before would still write of a person', async () => {
        const ada = { subject: 'ada' }
        const erasedAt = startedAt + 1_000
        const erase = () => store.trajectories.remove({ ...ada, tenant: 'acme' }, { dryRun: false, now: erasedAt })
        const late = (id: string, call: string, subject: string | null = null, began = startedAt) =>
          store.traffic.append(
            traffic.call(id, call, { origin: { subject }, head: { startedAt: began }, part: { endedAt: 2 * began } }),
          )
        await record('shared', { origin: ada })
        await store.traffic.append(traffic.call('shared', 'of-bob', { origin: { subject: 'bob' } }))
        await store.traffic.savePending(traffic.pending('half', 'p1', 100, { origin: ada }))
        await erase()

        // Her own, wherever it would be; whoever's, where she was; of a half answer, too.
        await expect(late('new', 'c1', 'ada')).rejects.toThrow(ErasedCallError)
        await expect(late('shared', 'c2', 'bob')).rejects.toThrow(ErasedCallError)
        await expect(late('half', 'c3')).rejects.toThrow(ErasedCallError)
        for (const [id, call] of [
          ['new', 'p2'],
          ['shared', 'p3'],
        ] as const) {
          await store.traffic.savePending(traffic.pending(id, call, 200, { origin: ada }))
        }
        expect(await store.traffic.recoverPending(1e15)).toBe(0)
        expect(await store.trajectories.count({})).toBe(0)

        // Others, and whatever begins afterwards.
        await late('of-bob', 'c4', 'bob')
        await late('shared', 'c5', 'ada', erasedAt + 1)
        await store.traffic.append(traffic.call('other', 'c6', { origin: { ...ada, tenant: 'other' } }))
        expect(await store.trajectories.count({})).toBe(3)
      })

      it('takes the keys of the sessions of a person, and no others', async () => {
        const kept = [
          traffic.key('k1', { session: 's-bob', subject: 'bob' }),
          traffic.key('k2', { session: 's-ada', tenant: 'other', subject: 'ada' }),
          traffic.key('k3', { session: null, subject: 'ada' }),
          traffic.key('k4', { session: 's-x', agent: '"subject":"ada"' }),
        ]
        const gone = [
          traffic.key('k5', { session: 's-1', subject: 'ada' }),
          traffic.key('k6', { session: 's-ada' }),
          traffic.key('k7', { session: 's-further' }),
        ]
        for (const one of [...kept, ...gone]) await store.keys.put(one)
        await record('t1', { origin: { subject: 'ada', session: 's-ada' } })
        await record('t2', { origin: { subject: 'bob', session: 's-further' } })
        await store.traffic.append(traffic.call('t2', 'of-ada', { origin: { subject: 'ada' } }))
        expect(await remove({ subject: 'ada', tenant: 'acme' })).toMatchObject({ trajectories: 2, keys: 3 })
        const left = (await store.keys.list({ limit: 99 })).map(({ id }) => id)
        expect(left.toSorted()).toEqual(kept.map(({ id }) => id))
      })

      it('takes any number, while others write', async () => {
        const ids = Array.from({ length: 1_200 }, (_, i) => `t${i}`)
        await Promise.all(
          ids.map((id) => store.traffic.append(traffic.call(id, `c-${id}`, { origin: { subject: 'ada' } }))),
        )
        await store.signals.append(ids.map((id) => sample.signal(id, { trajectory: id, tenant: 'acme' })))
        expect(await store.trajectories.remove({ subject: 'ada' }, { dryRun: true })).toMatchObject({
          trajectories: 1_200,
          signals: 1_200,
        })
        const [removed] = await Promise.all([
          store.trajectories.remove({ subject: 'ada' }, { dryRun: false }),
          ...ids.map((id) => store.traffic.append(traffic.call(`new ${id}`, `n-${id}`))),
        ])
        expect(removed).toMatchObject({ trajectories: 1_200, signals: 1_200 })
        expect(await store.trajectories.count({})).toBe(1_200)
        expect(await store.trajectories.count({ subject: 'ada' })).toBe(0)
      })

      it('never leaves a trajectory that cannot be read, whoever writes to it meanwhile', async () => {
        for (let round = 0; round < 5; round++) {
          const ids = Array.from({ length: 20 }, (_, i) => `r${round}-${i}`)
          for (const id of ids) await record(id)
          await Promise.all([
            store.trajectories.remove({ tenant: 'acme' }, { dryRun: false }),
            ...ids.map((id) => store.traffic.append(traffic.call(id, `e-${id}`, { after: `d-${id}-a` }))),
          ])
          for (const { trajectory } of await store.trajectories.list({ limit: 100 })) {
            expect(Trajectory.parse(trajectory)).toEqual(trajectory)
            expect([1, 3]).toContain(trajectory.steps.length)
          }
          expect(await store.trajectories.count({})).toBe((await store.trajectories.list({ limit: 100 })).length)
        }
      })
    })
  })
}

/** Nodes of call `i` that go on from an answer which another call brings at the same time. */
function nodesAfter(i: number): readonly object[] {
  return [
    { id: `c${i}-q`, parent: `c${i - 4 >= 0 ? i - 4 : 0}-a`, message: { role: 'user', content: '' }, spans: [] },
    { id: `c${i}-a`, parent: `c${i}-q`, message: { role: 'assistant', content: '' }, spans: [] },
  ]
}
