import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RecordedTrajectory, type Store, TrajectoryId } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { ReadingBack } from './reading-back.ts'
import { answerOf, contextOf, opened, recorderOver, requestOf, says, stored, turn } from './recorder.conformance.ts'

/** What is large is read, hashed and written in parts: others have their turns of the event loop between them. */

const mega = 2 ** 20
let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

/** Turns of the event loop while something is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let over = false
  const count = () => {
    turns += 1
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  await work()
  over = true
  return turns
}

it('an answer', async () => {
  const recorder = recorderOver(store)
  const record = await opened(recorder, requestOf([says('user', 'hello')]))
  const answer = { ...answerOf(['x'.repeat(16 * mega)]), weight: 16 * mega }
  const turns = await turnsDuring(() => record.finish({ answer, stopReason: 'done', failure: null }))
  // Each megabyte is hashed twice and written once.
  expect(turns).toBeGreaterThan(3 * 16)
  const { nodes } = await stored(store, record.trajectory)
  expect(nodes.at(-1)?.message.content).toHaveLength(16 * mega)
  await recorder.close()
})

it('a conversation, which is known again by the same hashes as a light one', async () => {
  const recorder = recorderOver(store)
  const long = 'y'.repeat(4 * mega)
  const first = await opened(recorder, requestOf([says('user', long)]))
  await first.finish({ answer: answerOf(['so it is']), stopReason: 'done', failure: null })
  const more = requestOf([says('user', long), turn('so it is'), says('user', 'more')])
  let second = first
  const turns = await turnsDuring(async () => {
    const begun = await recorder.begin(more, { ...contextOf(), weight: 4 * mega })
    if (begun.kind === 'call') second = begun.record
  })
  expect(turns).toBeGreaterThan(4)
  expect(second.trajectory).toBe(first.trajectory)
  await recorder.close()
})

it('trajectories that are read back, one at a time', async () => {
  let [now, most] = [0, 0]
  const trajectories = {
    ...store.trajectories,
    size: async () => ({ bytes: 6 * mega, calls: 1 }) as never,
    get: async (id: TrajectoryId) => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setTimeout(resolve, 2))
      now -= 1
      return { trajectory: { id } } as unknown as RecordedTrajectory
    },
  }
  const reading = new ReadingBack(trajectories)
  const ids = Array.from({ length: 6 }, (_, i) => TrajectoryId.parse(`t_${i}`))
  const read = await Promise.all(ids.map((id) => reading.read(id)))
  expect(most).toBe(1)
  expect(read.map((one) => (one.kind === 'found' ? one.recorded.trajectory.id : one.kind))).toEqual(ids)
})

it('and what is too large is not read at all', async () => {
  const trajectories = {
    ...store.trajectories,
    size: async () => ({ bytes: 9 * mega }) as never,
    get: () => Promise.reject(new Error('was read')),
  }
  expect(await new ReadingBack(trajectories).read(TrajectoryId.parse('t_a'))).toEqual({ kind: 'too-large' })
})
