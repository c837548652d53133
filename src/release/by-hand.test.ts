import { afterEach, beforeEach, expect, it } from 'vitest'
import { agent, base, model, prompt, setOf } from '../../test/support/canary-parts.ts'
import { type Run, RunId, type Store } from '../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import { type MadeByHand, versionsByHand } from './by-hand.ts'
import { Registry } from './registry.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
  await new Registry(store).initial(agent, [model, base], 1)
})
afterEach(() => store.close())

const setBy = async (made: MadeByHand) => setOf(...(await versionsByHand(store, agent, made)))
const run = (id: string, versionsOut: Run['versionsOut']): Run => ({
  id: RunId.parse(id),
  agent,
  config: {},
  seed: 0,
  status: 'completed',
  versionsIn: setOf(model, base),
  versionsOut,
  receipt: null,
  release: null,
  failure: null,
  startedAt: 1,
  endedAt: 2,
})

it('has what a run left behind, and over it the values that are given', async () => {
  const learned = prompt('learned')
  await store.versions.put(learned)
  await store.runs.create(run('run-1', setOf(model, learned)))
  expect(await setBy({ from: 'run-1' })).toEqual(setOf(model, learned))
  expect(await setBy({ from: 'run-1', values: { system: prompt('mine').value } })).toEqual(setOf(model, prompt('mine')))
  expect(await setBy({ values: { system: prompt('mine').value } })).toEqual(setOf(prompt('mine')))
})

it('knows no run that left nothing behind, or is of another agent', async () => {
  await store.runs.create(run('run-1', null))
  await store.runs.create({ ...run('run-2', setOf(model, base)), agent: 'other' })
  for (const from of ['run-1', 'run-2', 'run-3']) {
    await expect(setBy({ from })).rejects.toMatchObject({ code: 'release/unknown-candidate' })
  }
})
