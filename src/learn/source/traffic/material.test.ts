import { afterEach, beforeEach, expect, it } from 'vitest'
import { recordSessions, type SessionSketch } from '../../../../test/support/learner-traffic.ts'
import { scriptedModel } from '../../../../test/support/scripted-model.ts'
import { type Store, TrajectoryId } from '../../../core/index.ts'
import { openMemoryStore } from '../../../store/index.ts'
import { learnable } from './material.ts'

const { renderer } = scriptedModel(() => [])
const asOf = 10_000

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const record = (...sketches: readonly SessionSketch[]) => recordSessions(store, renderer, sketches)
const answersOf = async (...ids: readonly string[]) => {
  const read = await learnable({ options: { store } }, new Set(ids.map((id) => TrajectoryId.parse(id))), asOf)
  return read.map(({ id, steps }) => [id, ...steps.map(({ action }) => action)])
}

it('what came after the batch is not learned from with it', async () => {
  await record({ id: 'grown' }, { id: 'quiet' })
  await record({ id: 'grown', call: 'later', at: asOf + 1, answer: 'green' })
  expect(await answersOf('grown', 'quiet')).toEqual([
    ['grown', 'grown-c-a'],
    ['quiet', 'quiet-c-a'],
  ])
})

it('whether it may be learned from is what its client says now', async () => {
  await record({ id: 'a' }, { id: 'forbidden' }, { id: 'erased', subject: 'gone' })
  await record({ id: 'forbidden', call: 'later', at: asOf + 1, train: false })
  await store.trajectories.remove({ subject: 'gone' }, { dryRun: false })
  expect(await answersOf('a', 'forbidden', 'erased', 'unknown')).toEqual([['a', 'a-c-a']])
})
