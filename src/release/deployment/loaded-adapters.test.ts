import { afterEach, beforeEach, expect, it } from 'vitest'
import { practisedModel } from '../../../test/support/practised-model.ts'
import { type AdapterRef, type ModelService, mintVersion, type Store, type Version } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { LoadedAdapters } from './loaded-adapters.ts'

let store: Store
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(() => store.close())

const saved = async (name: string): Promise<Version> => {
  const adapter = await store.blobs.put(new TextEncoder().encode(name))
  const value = { kind: 'weights', base: 'words', baseHash: 'h', adapter } as const
  return mintVersion('model', value, { parents: [], run: null })
}

/** A model that loads and unloads only while it is up. */
function flaky() {
  const is = { up: true }
  let loads = 0
  const unloaded: string[] = []
  const { service } = practisedModel()
  const model: ModelService = {
    ...service,
    loadAdapter: async (): Promise<AdapterRef> => {
      if (!is.up) throw new Error('the model is down')
      return { kind: 'adapter', id: `a${++loads}` }
    },
    sampler: {
      ...service.sampler,
      unload: async ({ id }) => {
        if (!is.up) throw new Error('the model is down')
        unloaded.push(id)
      },
    },
  }
  return { is, model, unloaded }
}

const idOf = async (adapter: AdapterRef | null) => adapter?.id ?? null

it('tries again where an adapter could not be loaded, and fails only who waited for it', async () => {
  const { is, model } = flaky()
  const adapters = new LoadedAdapters(model, store.blobs)
  const version = await saved('one')
  is.up = false
  const waiting = [adapters.use(version, idOf), adapters.use(version, idOf)]
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  is.up = true
  expect(await adapters.use(version, idOf)).toBe('a1')
  expect(await adapters.use(version, idOf), 'it is loaded once').toBe('a1')
})

it('loses no session to an adapter that cannot be unloaded', async () => {
  const { is, model, unloaded } = flaky()
  const adapters = new LoadedAdapters(model, store.blobs)
  for (const name of ['one', 'two']) await adapters.use(await saved(name), idOf)
  const done = await adapters.use(await saved('three'), async (adapter) => {
    is.up = false
    return idOf(adapter)
  })
  expect(done).toBe('a3')
  is.up = true
  expect(await adapters.use(await saved('two'), idOf)).toBe('a2')
  await adapters.close()
  expect(unloaded).toEqual(['a3', 'a2'])
})

it('unloads the others too where one would not be, and says so at the end', async () => {
  const { model, unloaded } = flaky()
  const unload = async (ref: AdapterRef) => {
    if (ref.id === 'a1') throw new Error('the model holds it')
    await model.sampler.unload(ref)
  }
  const adapters = new LoadedAdapters({ ...model, sampler: { ...model.sampler, unload } }, store.blobs)
  for (const name of ['one', 'two']) await adapters.use(await saved(name), idOf)
  await expect(adapters.close()).rejects.toThrow('the model holds it')
  expect(unloaded).toEqual(['a2'])
})
