import { expect, it } from 'vitest'
import type { KnownTurn, NodeId, Store, TrajectorySummary } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { conversationOf } from './conversation.ts'
import { trajectoryOfSession } from './ids.ts'
import { KnownNodes } from './known-nodes.ts'
import { Places } from './places.ts'
import { ReadingBack } from './reading-back.ts'
import { Recalls } from './recalls.ts'
import { called, recorderOver, requestOf, says, turn } from './recorder.conformance.ts'
import { redactionOf } from './redaction/index.ts'

const history = requestOf([says('user', 'a'), turn('b'), says('user', 'c')])
const conversation = await conversationOf(history, redactionOf([]))
const asker = { tenant: 'acme', key: 'k1', session: 'a', subject: null }
const trajectory = trajectoryOfSession('acme', 'a')

function places(store: Pick<Store, 'traffic' | 'trajectories'>, problems: unknown[] = []) {
  return new Places({
    readingBack: new ReadingBack(store.trajectories),
    store,
    known: new KnownNodes(1_000_000),
    recalls: new Recalls(1_000_000, () => {}),
    ask: (question) => question(),
    onProblem: (error) => problems.push(error),
    sessionAsStored: (name) => name,
    patienceMs: 20,
  })
}

it('does not wait for a trajectory that takes too long to be read', async () => {
  const store = await openMemoryStore()
  const slow = { ...store, trajectories: { ...store.trajectories, get: () => new Promise<null>(() => {}) } }
  expect(await places(slow).within(trajectory, conversation, asker)).toEqual([])
  await store.close()
})

it('does not read a session that has grown beyond reading', async () => {
  const store = await openMemoryStore()
  let reads = 0
  const trajectories: Store['trajectories'] = {
    ...store.trajectories,
    summaries: () => Promise.resolve([{ calls: 100_000 } as TrajectorySummary]),
    get: (id) => ((reads += 1), store.trajectories.get(id)),
  }
  expect(await places({ ...store, trajectories }).within(trajectory, conversation, asker)).toEqual([])
  expect(reads).toBe(0)
  await store.close()
})

it('goes on without a trajectory that cannot be read', async () => {
  const store = await openMemoryStore()
  const problems: unknown[] = []
  const damaged = { ...store.trajectories, get: () => Promise.reject(new Error('damaged')) }
  const found = await places({ ...store, trajectories: damaged }, problems).within(trajectory, conversation, asker)
  expect(found).toEqual([])
  expect(problems).toHaveLength(1)
  await store.close()
})

it('looks at a few trajectories only, where many are alike', async () => {
  const store = await openMemoryStore()
  const recorder = recorderOver(store)
  const { record } = await called(recorder, requestOf([says('user', 'a')]), 'b')
  await called(recorder, history, 'd')
  await recorder.close()
  let reads = 0
  const asked: KnownTurn = { trajectory: record.trajectory, digest: conversation.points[1]!.exact, node: 'n' as NodeId }
  const many = { ...store.traffic, turns: () => Promise.resolve(Array.from({ length: 1_000 }, () => asked)) }
  const trajectories: Store['trajectories'] = {
    ...store.trajectories,
    get: (id) => ((reads += 1), store.trajectories.get(id)),
  }
  const found = await places({ traffic: many, trajectories }).recognise(conversation, { ...asker, session: null })
  expect(found).toBe(record.trajectory)
  expect(reads).toBeLessThanOrEqual(8)
  await store.close()
})
