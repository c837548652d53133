import { expect, it } from 'vitest'
import { type AdapterRef, BlobHash, type ModelService, sha256 } from '../../core/index.ts'
import { Adapters } from './adapters.ts'

/** A service that knows what is loaded. */
function counted() {
  const loaded = new Set<string>()
  let loads = 0
  const service: Pick<ModelService, 'loadAdapter' | 'sampler'> = {
    async loadAdapter(saved) {
      const id = Buffer.from(saved as Uint8Array).toString()
      if (id === 'broken') throw new Error('it cannot be loaded')
      loaded.add(id)
      loads++
      return { kind: 'adapter', id } as AdapterRef
    },
    sampler: { unload: async ({ id }: AdapterRef) => void loaded.delete(id) } as ModelService['sampler'],
  }
  const bytes = new Map<BlobHash, Uint8Array>()
  const adapters = new Adapters(service, async (hash) => bytes.get(hash) ?? new Uint8Array(), 2)
  const use = (name: string, work: () => Promise<unknown> = async () => {}) => {
    const hash = BlobHash.parse(sha256(Buffer.from(name)))
    bytes.set(hash, Buffer.from(name))
    return adapters.use(hash, async ({ id }) => {
      await work()
      return loaded.has(id)
    })
  }
  return { use, loaded, loads: () => loads }
}

it('keeps what is in use or on its way, however many are asked for at once', async () => {
  const { use, loaded } = counted()
  const there = await Promise.all(Array.from({ length: 20 }, (_, i) => use(`a${i}`, () => new Promise(setImmediate))))
  expect(there).toEqual(Array.from({ length: 20 }, () => true))
  await expect.poll(() => loaded.size).toBe(2)
})

it('unloads what was used longest ago', async () => {
  const { use, loaded, loads } = counted()
  for (const name of ['a', 'b', 'a', 'c']) await use(name)
  await expect.poll(() => [...loaded].toSorted()).toEqual(['a', 'c'])
  await use('a')
  expect(loads()).toBe(3)
})

it('tells each user of weights that cannot be loaded, and tries them again', async () => {
  const { use } = counted()
  const all = await Promise.allSettled([use('broken'), use('broken')])
  expect(all.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(use('broken')).rejects.toThrow('cannot be loaded')
})
