import { AsyncLocalStorage } from 'node:async_hooks'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Activation,
  type Checkpoint,
  type HoldoutUse,
  mintVersion,
  Receipt,
  type RecordedTrajectory,
  Release,
  type Reward,
  Run,
  RunId,
  Signal,
  type Store,
  TaskId,
  Trajectory,
  TrajectoryId,
  type Version,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import {
  ClosedStoreError,
  GenerationConflictError,
  MissingBlobError,
  OutsideTransactionError,
  RecordConflictError,
  UnknownRecordError,
  UnknownReferenceError,
  UnstorableValueError,
} from './errors/index.ts'

/** Records to store, each as small as its schema allows and different by what it is given. */
export const sample = {
  version: (text: string, run: string | null = null): Version =>
    mintVersion('system', { kind: 'text', text }, { parents: [], run: run === null ? null : RunId.parse(run) }),

  run: (id: string, change: object = {}): Run =>
    Run.parse({
      id,
      agent: 'support',
      config: { steps: 3, rate: 0.5 },
      seed: 7,
      status: 'running',
      versionsIn: { system: 'v0' },
      versionsOut: null,
      receipt: null,
      release: null,
      failure: null,
      startedAt: 1_000,
      endedAt: null,
      ...change,
    }),

  trajectory: (id: string, change: object = {}): Trajectory =>
    Trajectory.parse({
      id,
      task: { id: 'task-1', instruction: 'Which version?', split: 'train', tier: 'single-hop' },
      group: 'group-1',
      attempt: 0,
      seed: 3,
      nodes: [
        { id: 'n0', parent: null, message: { role: 'user', content: 'Which version?' }, spans: [] },
        {
          id: 'n1',
          parent: 'n0',
          message: { role: 'assistant', content: '"52"\u2028\u0000 ✓' },
          spans: [
            {
              kind: 'sampled',
              tokens: [5, 2],
              behaviourLogprobs: [-0.1, -1e-9],
              logprobs: [-0.30000000000000004, -12.5],
              sampling: { temperature: 1, truncated: false },
            },
          ],
        },
      ],
      steps: [{ index: 0, action: 'n1', observations: [], decisions: [] }],
      decisions: [],
      stopReason: 'done',
      failure: null,
      finalState: { state: { answer: '52' }, counts: { search: 1 } },
      startedAt: 1_700_000_000_000,
      seconds: 0.25,
      ...change,
    }),

  recorded: (id: string, run: string | null = null): RecordedTrajectory => ({
    trajectory: sample.trajectory(id),
    reward: { status: 'scored', value: 0.5, parts: { solved: 1, style: null } },
    run: run === null ? null : RunId.parse(run),
  }),

  signal: (key: string, change: object = {}): Signal =>
    Signal.parse({ key, trajectory: 't1', node: null, source: 'user', name: 'thumbs', value: 1, at: 5, ...change }),

  receipt: (id: string, change: object = {}): Receipt =>
    Receipt.parse({
      id,
      gate: { name: 'paired', config: { margin: 0.02 } },
      agent: 'support',
      baseline: { system: 'v0' },
      candidate: { system: 'v1' },
      outcomes: [{ task: 'task-1', baseline: 0, candidate: null }],
      use: sample.use(1),
      evidence: { difference: 0.4 },
      decision: 'promote',
      reasons: ['Better by 0.4.'],
      ...change,
    }),

  use: (use: number): HoldoutUse => ({ holdout: 'h1', use, alpha: 0.05 / 2 ** use, run: null, at: 10 }),

  release: (id: string, change: object = {}): Release =>
    Release.parse({
      id,
      agent: 'support',
      versions: { system: 'v0' },
      receipt: null,
      run: null,
      createdAt: 20,
      ...change,
    }),

  activation: (release: Release, generation: number): Activation => ({
    agent: release.agent,
    release: release.id,
    reason: 'initial',
    generation,
    at: 30 + generation,
  }),

  checkpoint: (run: string, sequence: number, state: Checkpoint['state'] = { step: sequence }): Checkpoint => ({
    run: RunId.parse(run),
    sequence,
    state,
    blobs: { adapter: 'ab'.repeat(32) },
    at: 40,
  }),
}

/** The ids from `task-<from>` up to, not including, `task-<to>`. */
const taskIds = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => TaskId.parse(`task-${from + i}`))

/** What every Store does, whatever is under it. `open` gives an empty one. */
export function storeConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: a Store`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    describe('blobs', () => {
      it('gives back the bytes it was given, by their hash', async () => {
        const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i * 31)
        const hash = await store.blobs.put(bytes)
        expect(Buffer.from(await store.blobs.get(hash)).equals(bytes)).toBe(true)
        expect(await store.blobs.put(bytes)).toBe(hash)
        const empty = await store.blobs.put(new Uint8Array())
        expect(empty).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
        expect((await store.blobs.get(empty)).length).toBe(0)
      })

      it('takes the same bytes many times at once', async () => {
        const bytes = new Uint8Array(5_000).fill(9)
        const hashes = await Promise.all(Array.from({ length: 20 }, () => store.blobs.put(bytes)))
        expect(new Set(hashes).size).toBe(1)
        expect((await store.blobs.get(present(hashes[0], 'hash'))).length).toBe(5_000)
      })

      it('forgets what nothing names', async () => {
        const hash = await store.blobs.put(new Uint8Array([1, 2]))
        const other = await store.blobs.put(new Uint8Array([3]))
        await store.blobs.delete(hash)
        await store.blobs.delete(hash)
        await expect(store.blobs.get(hash)).rejects.toThrow(MissingBlobError)
        expect([...(await store.blobs.get(other))]).toEqual([3])
        expect(await store.blobs.put(new Uint8Array([1, 2]))).toBe(hash)
        expect([...(await store.blobs.get(hash))]).toEqual([1, 2])
      })

      it('keeps what a version names, or what any run would resume from, and not what one has left behind', async () => {
        const [released, left, resumed] = await Promise.all([4, 5, 6].map((n) => store.blobs.put(new Uint8Array([n]))))
        await store.versions.put(sample.version(`an adapter in ${released}`))
        for (const run of ['run-1', 'run-2']) await store.runs.create(sample.run(run))
        const names = (run: string, sequence: number, trainer: string | undefined) =>
          store.runs.saveCheckpoint({ ...sample.checkpoint(run, sequence), blobs: { trainer: trainer ?? '' } })
        await names('run-1', 0, left)
        await names('run-1', 1, resumed)
        await names('run-2', 0, resumed)
        await names('run-2', 1, left)
        await names('run-2', 2, released)
        for (const hash of [released, left, resumed]) await store.blobs.delete(hash ?? '')
        await expect(store.blobs.get(left ?? '')).rejects.toThrow(MissingBlobError)
        for (const kept of [released, resumed]) expect(await store.blobs.get(kept ?? '')).toHaveLength(1)
      })

      it('says which blob is missing', async () => {
        await expect(store.blobs.get('00'.repeat(32))).rejects.toThrow(MissingBlobError)
      })
    })

    describe('versions', () => {
      it('are written once', async () => {
        const version = sample.version('Answer tersely.')
        await store.versions.put(version)
        await store.versions.put(structuredClone(version))
        expect(await store.versions.get(version.id)).toEqual(version)
        expect(await store.versions.get(sample.version('other').id)).toBeNull()

        const forged = { ...version, value: { kind: 'text' as const, text: 'Something else.' } }
        await expect(store.versions.put(forged)).rejects.toThrow(RecordConflictError)
        expect(await store.versions.get(version.id)).toEqual(version)
      })

      it('keep their first origin when a second run arrives at the same value', async () => {
        const first = sample.version('same', 'run-1')
        await store.versions.put(first)
        await store.versions.put(sample.version('same', 'run-2'))
        expect(await store.versions.get(first.id)).toEqual(first)
      })
    })

    describe('trajectories', () => {
      it('come back as they were, in the order of recording', async () => {
        await store.runs.create(sample.run('run-1'))
        await store.trajectories.append([sample.recorded('t2', 'run-1'), sample.recorded('t1')])
        await store.trajectories.append([sample.recorded('t0', 'run-1')])

        const ids = async (filter: Parameters<typeof store.trajectories.list>[0]) =>
          (await store.trajectories.list(filter)).map(({ trajectory }) => trajectory.id)
        expect(await ids({ limit: 10 })).toEqual(['t2', 't1', 't0'])
        expect(await ids({ limit: 2 })).toEqual(['t2', 't1'])
        expect(await ids({ run: RunId.parse('run-1'), limit: 10 })).toEqual(['t2', 't0'])
        expect(await store.trajectories.count({})).toBe(3)
        expect(await store.trajectories.count({ run: RunId.parse('run-1') })).toBe(2)
        expect(await store.trajectories.get(TrajectoryId.parse('t2'))).toEqual(sample.recorded('t2', 'run-1'))
        expect(await store.trajectories.get(TrajectoryId.parse('t9'))).toBeNull()
      })

      it('keep a missing reward missing (invariant 1)', async () => {
        const reward: Reward = { status: 'missing', value: null, parts: { solved: null }, reason: 'judge down' }
        await store.trajectories.append([{ ...sample.recorded('t1'), reward }])
        expect((await store.trajectories.get(TrajectoryId.parse('t1')))?.reward).toEqual(reward)
      })

      it('come in batches of any size', async () => {
        const records = Array.from({ length: 300 }, (_, i) => sample.recorded(`t${i}`))
        await store.trajectories.append([])
        await store.trajectories.append(records)
        expect(await store.trajectories.list({ limit: 1000 })).toEqual(records)
      })

      it('are written once, whole batches or not at all', async () => {
        const record = sample.recorded('t1')
        await store.trajectories.append([record])
        const reordered = { ...record, trajectory: Object.fromEntries(Object.entries(record.trajectory).toReversed()) }
        await store.trajectories.append([sample.recorded('t2'), reordered as unknown as RecordedTrajectory])
        expect(await store.trajectories.count({})).toBe(2)

        const other = { ...record, trajectory: sample.trajectory('t1', { seed: 4 }) }
        await expect(store.trajectories.append([sample.recorded('t3'), other])).rejects.toThrow(RecordConflictError)
        const rescored = { ...record, reward: { status: 'scored', value: 1, parts: {} } as const }
        await expect(store.trajectories.append([rescored])).rejects.toThrow(RecordConflictError)
        expect(await store.trajectories.count({})).toBe(2)
      })

      it('are refused when JSON would change them', async () => {
        const [_, node] = sample.trajectory('t1').nodes
        const broken = sample.recorded('t1')
        broken.trajectory.nodes.splice(1, 1, {
          ...present(node, 'node'),
          spans: [
            {
              kind: 'sampled',
              tokens: [1],
              behaviourLogprobs: [Number.NaN],
              logprobs: [0],
              sampling: { temperature: 1, truncated: false },
            },
          ],
        })
        const refusal = store.trajectories.append([sample.recorded('t0'), broken])
        await expect(refusal).rejects.toThrow(UnstorableValueError)
        await expect(refusal).rejects.toThrow('nodes.1.spans.0.behaviourLogprobs.0 is NaN')
        expect(await store.trajectories.count({})).toBe(0)
      })

      it('hold any text and any finite number', async () => {
        let next = 0
        await fc.assert(
          fc.asyncProperty(
            fc.string({ unit: 'binary' }),
            fc.double({ noNaN: true, noDefaultInfinity: true }),
            fc.jsonValue({ noUnicodeString: false }),
            async (content, value, state) => {
              const id = `t${next++}`
              const record: RecordedTrajectory = {
                trajectory: sample.trajectory(id, {
                  nodes: [{ id: 'n0', parent: null, message: { role: 'user', content }, spans: [] }],
                  steps: [],
                  finalState: { state, counts: { n: value } },
                }),
                reward: { status: 'scored', value, parts: {} },
                run: null,
              }
              await store.trajectories.append([record])
              // Through JSON first: it has no negative zero.
              expect(await store.trajectories.get(TrajectoryId.parse(id))).toEqual(JSON.parse(JSON.stringify(record)))
            },
          ),
          { numRuns: 100 },
        )
      })

      it('belong to a run that exists', async () => {
        await expect(store.trajectories.append([sample.recorded('t1', 'nowhere')])).rejects.toThrow(
          UnknownReferenceError,
        )
      })
    })

    it('takes signals at any time, each key once', async () => {
      await store.trajectories.append([sample.recorded('t1')])
      const late = sample.signal('b', { at: 9 })
      await store.signals.append([late, sample.signal('a'), sample.signal('c', { trajectory: 't2' })])
      await store.signals.append([sample.signal('a', { value: 'ignored' }), sample.signal('d', { node: 'n1', at: 2 })])
      const signals = await store.signals.of(TrajectoryId.parse('t1'))
      expect(signals.map(({ key }) => key)).toEqual(['d', 'a', 'b'])
      expect(signals[1]?.value).toBe(1)
      expect(signals[2]).toEqual(late)
    })

    describe('signals in parts', () => {
      const t1 = TrajectoryId.parse('t1')
      const keysOf = (signals: readonly Signal[]) => signals.map(({ key }) => key)

      it('come page by page, each once, in their order', async () => {
        await store.trajectories.append([sample.recorded('t1')])
        const keys = Array.from({ length: 7 }, (_, i) => `k${i}`)
        // Several happened at once.
        await store.signals.append(keys.map((key, i) => sample.signal(key, { at: Math.floor(i / 3) })))
        const seen: string[] = []
        let after: Signal | undefined
        for (let pages = 0; pages < 9; pages++) {
          const from = { ...(after ? { after } : {}), limit: 2, bytes: 1_000 }
          const { signals, more } = await store.signals.page(t1, from)
          seen.push(...keysOf(signals))
          after = signals.at(-1)
          if (!more) break
        }
        expect(seen).toEqual(keys)
      })

      it('a page holds no more bytes than it may, and always one signal', async () => {
        await store.trajectories.append([sample.recorded('t1')])
        const long = 'x'.repeat(98)
        await store.signals.append(['a', 'b', 'c'].map((key, at) => sample.signal(key, { at, value: long })))
        const pageOf = async (bytes: number) => {
          const { signals, more } = await store.signals.page(t1, { limit: 10, bytes })
          return [keysOf(signals).join(''), more]
        }
        expect(await pageOf(300)).toEqual(['abc', false])
        expect(await pageOf(299)).toEqual(['ab', true])
        expect(await pageOf(1)).toEqual(['a', true])
      })

      it('the last of a topic comes with its value where that is as long', async () => {
        const topic = { ...sample.signal('a'), node: null }
        expect(await store.signals.last(topic, 1)).toBeNull()
        await store.signals.append([
          sample.signal('a', { at: 1, value: 1 }),
          sample.signal('b', { at: 2, value: 2 }),
          sample.signal('other-name', { at: 3, name: 'other' }),
          sample.signal('other-node', { at: 3, node: 'n1' }),
          sample.signal('other-reporter', { at: 3, reporter: 'somebody' }),
        ])
        expect(await store.signals.last(topic, 1)).toEqual({ key: 'b', at: 2, value: 2 })
        expect(await store.signals.last(topic, 2)).toEqual({ key: 'b', at: 2 })
      })

      it('bytes of one key about one trajectory are bounded', async () => {
        await store.trajectories.append([sample.recorded('t1'), sample.recorded('t2')])
        const caps = { perTrajectory: 99, perTrajectoryOfKey: 99, bytesPerTrajectoryOfKey: 250, perDay: 99 }
        const said = (key: string, change: object = {}) =>
          sample.signal(key, { value: 'x'.repeat(98), reporter: 'k:a', ...change })
        const append = (signals: readonly Signal[]) => store.signals.append(signals, { caps, now: 10 })
        expect(await append([said('a'), said('b', { reporter: 'k:b' })])).toEqual(['recorded', 'recorded'])
        expect(await append([said('c', { reporter: 'k:c' })])).toEqual(['capped'])
        expect(await append([said('d', { trajectory: 't2' }), said('e', { reporter: 'other:a' })])).toEqual([
          'recorded',
          'recorded',
        ])
      })
    })

    it('says how large a trajectory is, in bytes', async () => {
      await store.trajectories.append([sample.recorded('t1')])
      const small = await store.trajectories.size(TrajectoryId.parse('t1'))
      expect(small?.tenant).toBe('default')
      const finalState = { state: 'é'.repeat(1_000), counts: {} }
      const large = { ...sample.recorded('t2'), trajectory: sample.trajectory('t2', { finalState }) }
      await store.trajectories.append([large])
      const more = ((await store.trajectories.size(TrajectoryId.parse('t2')))?.bytes ?? 0) - (small?.bytes ?? 0)
      expect(more).toBeGreaterThan(1_900)
      expect(more).toBeLessThan(2_100)
      expect(await store.trajectories.size(TrajectoryId.parse('nowhere'))).toBeNull()
    })

    describe('runs', () => {
      it('are created once and change', async () => {
        const run = sample.run('run-1')
        await store.runs.create(run)
        await store.runs.create(run)
        await expect(store.runs.create({ ...run, seed: 8 })).rejects.toThrow(RecordConflictError)

        const change = {
          status: 'failed',
          failure: { code: 'model/nan', message: 'Loss is NaN.' },
          versionsOut: sample.run('x', { versionsOut: { system: 'v1' } }).versionsOut,
          endedAt: 2_000,
        } as const
        await store.runs.update(run.id, change)
        expect(await store.runs.get(run.id)).toEqual({ ...run, ...change })
        await store.runs.update(run.id, { failure: null, status: 'running' })
        expect((await store.runs.get(run.id))?.failure).toBeNull()
        await store.runs.update(run.id, {})

        expect(await store.runs.get(RunId.parse('run-9'))).toBeNull()
        await expect(store.runs.update(RunId.parse('run-9'), { status: 'failed' })).rejects.toThrow(UnknownRecordError)
        await expect(store.runs.update(RunId.parse('run-9'), {})).rejects.toThrow(UnknownRecordError)
      })

      it('are listed newest first', async () => {
        for (const id of ['a', 'b', 'c'])
          await store.runs.create(sample.run(id, { agent: id === 'b' ? 'other' : 'support' }))
        const ids = async (filter: Parameters<typeof store.runs.list>[0]) =>
          (await store.runs.list(filter)).map(({ id }) => id)
        expect(await ids({ limit: 10 })).toEqual(['c', 'b', 'a'])
        expect(await ids({ limit: 2 })).toEqual(['c', 'b'])
        expect(await ids({ agent: 'support', limit: 10 })).toEqual(['c', 'a'])
        expect(await ids({ before: RunId.parse('c'), limit: 1 })).toEqual(['b'])
        expect(await ids({ agent: 'support', before: RunId.parse('c'), limit: 10 })).toEqual(['a'])
      })

      it('are listed without those that had ended', async () => {
        for (const [id, endedAt] of [
          ['a', null],
          ['b', 1_000],
          ['c', 2_000],
        ] as const) {
          await store.runs.create(sample.run(id, { endedAt }))
        }
        const since = async (endedSince: number) =>
          (await store.runs.list({ endedSince, limit: 9 })).map(({ id }) => id)
        expect(await since(1_000)).toEqual(['c', 'b', 'a'])
        expect(await since(1_001)).toEqual(['c', 'a'])
        expect(await since(2_001)).toEqual(['a'])
      })

      it('tell their story in order', async () => {
        const run = sample.run('run-1')
        await store.runs.create(run)
        const events = [2, 0, 1].map((sequence) => ({
          run: run.id,
          sequence,
          type: 'update',
          data: { loss: sequence / 3 },
          at: sequence,
        }))
        await store.runs.appendEvents([])
        await store.runs.appendEvents(events)
        await store.runs.appendEvents(events.slice(1))
        expect((await store.runs.events(run.id)).map(({ sequence }) => sequence)).toEqual([0, 1, 2])
        expect((await store.runs.events(run.id))[2]).toEqual(events[0])
        await expect(store.runs.appendEvents([{ ...present(events[0], 'event'), type: 'other' }])).rejects.toThrow(
          RecordConflictError,
        )
        await expect(
          store.runs.appendEvents([{ ...present(events[0], 'event'), run: RunId.parse('none') }]),
        ).rejects.toThrow(UnknownReferenceError)
      })

      it('go on from their latest checkpoint', async () => {
        const run = sample.run('run-1')
        await store.runs.create(run)
        expect(await store.runs.latestCheckpoint(run.id)).toBeNull()
        for (const sequence of [0, 1, 10, 9]) await store.runs.saveCheckpoint(sample.checkpoint('run-1', sequence))
        await store.runs.saveCheckpoint(sample.checkpoint('run-1', 10))
        expect(await store.runs.latestCheckpoint(run.id)).toEqual(sample.checkpoint('run-1', 10))
        const other = sample.checkpoint('run-1', 10, { step: 'elsewhere' })
        await expect(store.runs.saveCheckpoint(other)).rejects.toThrow(RecordConflictError)
      })
    })

    it('keeps receipts as they were signed', async () => {
      const receipt = sample.receipt('r1')
      await store.receipts.put(receipt)
      await store.receipts.put(receipt)
      expect(await store.receipts.get(receipt.id)).toEqual(receipt)
      expect(await store.receipts.get(sample.receipt('r2').id)).toBeNull()
      const tampered = sample.receipt('r1', { outcomes: [] })
      await expect(store.receipts.put(tampered)).rejects.toThrow(RecordConflictError)
    })

    it('lets each use of a holdout be spent once', async () => {
      const tasks = taskIds(0, 3)
      await store.ledger.append(sample.use(2), tasks)
      await store.ledger.append(sample.use(1), tasks)
      await store.ledger.append(sample.use(1), tasks)
      await expect(store.ledger.append({ ...sample.use(2), alpha: 0.05 }, tasks)).rejects.toThrow(RecordConflictError)
      expect(await store.ledger.uses(tasks)).toEqual([sample.use(1), sample.use(2)])
      expect(await store.ledger.uses(taskIds(3, 6))).toEqual([])
      expect(await store.ledger.uses([])).toEqual([])
    })

    it('finds every use of a holdout that shares a task, however large', async () => {
      const other: HoldoutUse = { ...sample.use(1), holdout: 'h2', run: RunId.parse('run-2') }
      await store.ledger.append(sample.use(3), taskIds(0, 1200))
      await store.ledger.append(other, taskIds(1199, 2400))
      expect(await store.ledger.uses(taskIds(0, 1199))).toEqual([sample.use(3)])
      expect(await store.ledger.uses(taskIds(1199, 1200))).toEqual([other, sample.use(3)])
      expect(await store.ledger.uses(taskIds(600, 1800))).toEqual([other, sample.use(3)])
      expect(await store.ledger.uses(taskIds(2400, 2401))).toEqual([])
    })

    describe('releases', () => {
      it('are written once, newest first, with receipts that exist', async () => {
        await store.receipts.put(sample.receipt('r1'))
        const [first, second] = [sample.release('a'), sample.release('b', { receipt: 'r1' })]
        await store.releases.put(first)
        await store.releases.put(second)
        await store.releases.put(sample.release('c', { agent: 'other' }))
        await store.releases.put(second)
        expect(await store.releases.get(second.id)).toEqual(second)
        expect(await store.releases.get(sample.release('z').id)).toBeNull()
        expect((await store.releases.list({ limit: 10 })).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
        expect(await store.releases.list({ agent: 'support', limit: 10 })).toEqual([second, first])
        const asDeclared = await store.releases.list({ agent: 'support', asDeclared: true, limit: 10 })
        expect(asDeclared).toEqual([second, first].filter(({ receipt }) => receipt === null))
        await expect(store.releases.put({ ...first, createdAt: 99 })).rejects.toThrow(RecordConflictError)
        await expect(store.releases.put(sample.release('d', { receipt: 'none' }))).rejects.toThrow(
          UnknownReferenceError,
        )
      })

      it('are activated one generation after another', async () => {
        const [first, second] = [sample.release('a'), sample.release('b')]
        expect(await store.releases.current('support')).toBeNull()
        await expect(store.releases.activate(sample.activation(first, 1))).rejects.toThrow(UnknownReferenceError)
        await store.releases.put(first)
        await store.releases.put(second)
        await expect(store.releases.activate(sample.activation(first, 2))).rejects.toThrow(GenerationConflictError)
        await store.releases.activate(sample.activation(first, 1))
        await store.releases.activate(sample.activation(second, 2))
        await store.releases.activate(sample.activation(first, 3))
        await expect(store.releases.activate(sample.activation(second, 3))).rejects.toThrow(GenerationConflictError)
        expect(await store.releases.current('support')).toEqual(sample.activation(first, 3))
        expect((await store.releases.activations('support')).map(({ generation }) => generation)).toEqual([1, 2, 3])
        const recent = async (agent: string, limit: number) =>
          (await store.releases.recent(agent, limit)).map(({ generation }) => generation)
        expect(await recent('support', 2)).toEqual([3, 2])
        expect(await recent('support', 9)).toEqual([3, 2, 1])
        expect(await recent('nobody', 9)).toEqual([])
      })

      it('have one winner when two are activated at once', async () => {
        const [first, second] = [sample.release('a'), sample.release('b')]
        await store.releases.put(first)
        await store.releases.put(second)
        const outcomes = await Promise.allSettled(
          [first, second].map((release) => store.releases.activate(sample.activation(release, 1))),
        )
        expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
        expect(await store.releases.activations('support')).toHaveLength(1)
      })
    })

    describe('writes at once', () => {
      it('do not fail for a neighbour that fails', async () => {
        await store.versions.put(sample.version('taken'))
        const forged = { ...sample.version('x'), id: sample.version('taken').id }
        const versions = Array.from({ length: 100 }, (_, i) => (i === 37 ? forged : sample.version(`v${i}`)))
        const outcomes = await Promise.allSettled(versions.map((version) => store.versions.put(version)))
        expect(outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([37])
        for (const version of versions.toSpliced(37, 1)) expect(await store.versions.get(version.id)).toEqual(version)
      })

      it('come before a transaction that was asked for after them, and after one that was asked for before', async () => {
        const run = sample.run('run-1')
        await store.runs.create(run)
        await Promise.all([
          store.runs.update(run.id, { status: 'interrupted' }),
          store.transaction((tx) => tx.runs.update(run.id, { status: 'running' })),
          store.runs.update(run.id, { status: 'completed' }),
        ])
        expect((await store.runs.get(run.id))?.status).toBe('completed')
      })
    })

    describe('a transaction', () => {
      it('commits all that it wrote, and sees it before', async () => {
        const seen = await store.transaction(async (tx) => {
          await tx.receipts.put(sample.receipt('r1'))
          await tx.releases.put(sample.release('a', { receipt: 'r1' }))
          await new Promise((resolve) => setTimeout(resolve, 5))
          return tx.releases.list({ limit: 10 })
        })
        expect(seen).toHaveLength(1)
        expect(await store.releases.list({ limit: 10 })).toEqual(seen)
      })

      it('leaves nothing when it throws', async () => {
        const failure = new Error('no')
        const broken = store.transaction(async (tx) => {
          await tx.versions.put(sample.version('a'))
          throw failure
        })
        await expect(broken).rejects.toBe(failure)
        expect(await store.versions.get(sample.version('a').id)).toBeNull()
      })

      it('leaves nothing when one of its writes failed, caught or not', async () => {
        const broken = store.transaction(async (tx) => {
          await tx.versions.put(sample.version('a'))
          await tx.runs.update(RunId.parse('none'), { status: 'failed' }).catch(() => {})
        })
        await expect(broken).rejects.toThrow(UnknownRecordError)
        expect(await store.versions.get(sample.version('a').id)).toBeNull()
      })

      it('is not seen, and does not stop others, before it commits', async () => {
        let wrote = () => {}
        let goOn = () => {}
        const written = new Promise<void>((resolve) => (wrote = resolve))
        const released = new Promise<void>((resolve) => (goOn = resolve))
        const open = store.transaction(async (tx) => {
          await tx.versions.put(sample.version('a'))
          wrote()
          await released
        })
        await written
        const neighbour = store.versions.put(sample.version('b'))
        const read = store.versions.get(sample.version('a').id)
        setImmediate(goOn)
        await open
        await neighbour
        // A snapshot from before the commit or a read that waited for it: never a row that could still be rolled back.
        expect([null, sample.version('a')]).toContainEqual(await read)
        expect(await store.versions.get(sample.version('b').id)).not.toBeNull()
      })

      it('refuses to wait for itself', async () => {
        await expect(store.transaction(() => store.versions.put(sample.version('a')))).rejects.toThrow(
          OutsideTransactionError,
        )
        await expect(store.transaction(() => store.runs.list({ limit: 1 }))).rejects.toThrow(OutsideTransactionError)
        await expect(store.transaction(() => store.transaction(async () => {}))).rejects.toThrow(
          OutsideTransactionError,
        )
        await store.versions.put(sample.version('a'))
      })

      it('runs in the async context of its caller', async () => {
        const context = new AsyncLocalStorage<string>()
        const other = context.run('theirs', () => store.versions.put(sample.version('a')))
        const mine = context.run('mine', () => store.transaction(async () => context.getStore()))
        await other
        expect(await mine).toBe('mine')
      })
    })

    it('says that it is closed, after it has written what was asked for', async () => {
      const asked = store.versions.put(sample.version('a'))
      await store.close()
      await asked
      await expect(store.versions.get(sample.version('a').id)).rejects.toThrow(ClosedStoreError)
      await expect(store.versions.put(sample.version('a'))).rejects.toThrow(ClosedStoreError)
      await store.close()
    })
  })
}
