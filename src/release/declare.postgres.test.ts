import { expect, it, onTestFinished } from 'vitest'
import { openStore } from '../store/index.ts'
import { agent, base, model, prompt, quickGate, setOf } from '../../test/support/canary-parts.ts'
import { makeTestDatabase } from '../../test/support/postgres.ts'
import { Registry } from './index.ts'

it('several processes that start at once, of two codes, declare each once; what both see is the same', async () => {
  const database = await makeTestDatabase()
  onTestFinished(() => database.drop())
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore({ url: database.url })))
  onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))))
  const registries = stores.map((store) => new Registry(store))
  const [one] = registries
  const edited = prompt('Answer in one word.')
  const all = (declared: (i: number) => typeof base) =>
    Promise.all(registries.map((registry, i) => registry.initial(agent, [model, declared(i)], i)))

  await all(() => base)
  const canary = await one!.startCanary({
    agent,
    versions: [prompt('Answer kindly.')],
    admission: null,
    run: null,
    gate: quickGate,
  })
  await all((i) => (i % 2 === 0 ? base : edited))
  await all((i) => (i % 2 === 0 ? edited : base))
  const activations = await stores[0]!.releases.activations(agent)
  expect(activations.map(({ reason }) => reason)).toEqual(['initial', 'declared'])
  for (const registry of registries) {
    expect((await registry.current(agent)).release.versions).toEqual(setOf(model, edited))
    expect(await registry.runningCanary(agent)).toBeNull()
  }
  expect(await stores[1]!.canaries.get(canary.id)).toMatchObject({ status: 'rolled-back' })
})
