import { afterEach, beforeEach, expect, it } from 'vitest'
import { runRecord } from '../../../test/support/run-record.ts'
import type { Store } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { type JournalState, RunJournal } from './journal.ts'

interface Told {
  readonly type: string
}

class Journal extends RunJournal<JournalState, Told> {
  protected override trainerStates = () => Promise.resolve(new Map())
  protected override discard = () => Promise.resolve()
}

const run = runRecord()

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
  await store.runs.create(run)
})
afterEach(() => store.close())

const journal = (onEvent?: (event: Told) => void, on = store) => {
  const state = { events: 0, checkpoints: 0, seconds: 0 }
  return new Journal({ run, store: on, clock: { now: () => 0 }, state, blobs: {}, onEvent })
}
const story = async () => (await store.runs.events(run.id)).map(({ sequence, type }) => [sequence, type])

it('keeps what it told at its checkpoints, but for progress', async () => {
  const told: string[] = []
  const kept = journal(({ type }) => told.push(type))
  for (const type of ['started', 'progress', 'gathered']) kept.emit({ type })
  expect(told).toEqual(['started', 'progress', 'gathered'])
  expect(await story()).toEqual([])
  await kept.checkpoint()
  expect(await story()).toEqual([
    [0, 'started'],
    [1, 'gathered'],
  ])
})

it('a checkpoint that fails loses nothing: the next one keeps what it would have', async () => {
  let isGone = false
  const breaking: Store = {
    ...store,
    transaction: (work) =>
      store.transaction(async (tx) => {
        const result = await work(tx)
        if (isGone) throw new Error('the connection is gone')
        return result
      }),
  }
  const kept = journal(undefined, breaking)
  kept.emit({ type: 'started' })
  const failing = kept.checkpoint(async () => {
    throw new Error('the disk is full')
  })
  await expect(failing).rejects.toThrow('the disk is full')
  isGone = true
  await expect(kept.checkpoint()).rejects.toThrow('the connection is gone')
  isGone = false
  kept.emit({ type: 'gathered' })
  await kept.checkpoint()
  expect(await story()).toEqual([
    [0, 'started'],
    [1, 'gathered'],
  ])
  expect(await store.runs.latestCheckpoint(run.id)).toMatchObject({ sequence: 0, state: { events: 2, checkpoints: 1 } })
})

it('remembers an event that whoever listens cannot take', async () => {
  const kept = journal(() => {
    throw new Error('no ears')
  })
  expect(() => kept.emit({ type: 'started' })).toThrow('no ears')
  await kept.checkpoint()
  expect(await story()).toEqual([[0, 'started']])
})
