import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../core/index.ts'
// The store is passed in through its port; the tests use the real one.
import { openMemoryStore } from '../store/index.ts'
import {
  admissionOf,
  agent,
  base,
  canaryReceiptOf,
  model,
  prompt,
  quickGate,
  setOf,
} from '../../test/support/canary-parts.ts'
import { agentState, overviewOf, Registry, stateOf } from './index.ts'

let store: Store
let registry: Registry
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  await registry.initial(agent, [model, base], 1)
})
afterEach(() => store.close())

const refused = () => Promise.reject(new Error('nothing of the history is needed'))

it('tells what stands without reading the history', async () => {
  await registry.pin(agent, 'a holiday', { at: 2 })
  const overview = await overviewOf(store, agent)
  const { releases, canaries } = store
  const brief = {
    releases: Object.assign(Object.create(releases), { activations: refused, list: refused }) as typeof releases,
    canaries: Object.assign(Object.create(canaries), { list: refused }) as typeof canaries,
  }
  const state = await agentState(brief, agent)
  expect(state).toMatchObject({ agent, generation: 1, since: 1, pin: { reason: 'a holiday' }, canary: null })
  expect(overview && stateOf(overview)).toEqual(state)
  expect(await agentState(brief, 'nobody')).toBeNull()
})

it('tells what a release rests on, also where its canary is not among those that are read', async () => {
  const first = setOf(model, base)
  const second = setOf(model, prompt('Second.'))
  await registry.promote({ receipt: admissionOf(first, second), versions: [prompt('Second.')], run: null })
  const canary = await registry.startCanary({
    agent,
    versions: [prompt('Third.')],
    admission: null,
    run: null,
    gate: quickGate,
  })
  await registry.promoteCanary(canaryReceiptOf(canary, second))
  const none = () => Promise.resolve([])
  const past = { ...store, canaries: Object.assign(Object.create(store.canaries), { list: none }) as Store['canaries'] }
  for (const some of [store, past]) {
    const overview = await overviewOf(some, agent)
    expect(overview?.releases.map(({ evidence }) => evidence)).toEqual(['behaviour-only', 'held-out', 'initial'])
  }
})
