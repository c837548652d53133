import { expect, it } from 'vitest'
import type { ApiKey, KeyId } from '../../core/index.ts'
import { KeyCache } from './key-cache.ts'
import { newKey } from './token.ts'

const made = () => newKey({ name: 'k', tenant: 'acme', scopes: ['infer'], now: 1 }).key

function cacheOver(...keys: readonly ApiKey[]) {
  const stored = new Map(keys.map((key) => [key.id, key]))
  const time = { now: 1_000 }
  const asked: KeyId[] = []
  const state = { broken: false }
  const cache = new KeyCache(
    {
      get: async (id) => {
        asked.push(id)
        await Promise.resolve()
        if (state.broken) throw new Error('disk')
        return stored.get(id) ?? null
      },
    },
    { now: () => time.now },
  )
  return { cache, stored, time, asked, state }
}

it('asks the store once in a while, however often and at once it is asked itself', async () => {
  const key = made()
  const { cache, asked, time } = cacheOver(key)
  const all = await Promise.all(Array.from({ length: 100 }, () => cache.get(key.id)))
  expect(all.every((found) => found === key)).toBe(true)
  await cache.get(key.id)
  expect(asked).toHaveLength(1)
  time.now += 3_001
  await cache.get(key.id)
  expect(asked).toHaveLength(2)
})

it('sees a revocation by another process within seconds, and one by this process at once', async () => {
  const key = made()
  const { cache, stored, time } = cacheOver(key)
  await cache.get(key.id)
  stored.set(key.id, { ...key, revokedAt: 5 })
  expect((await cache.get(key.id))?.revokedAt).toBeNull()
  time.now += 3_001
  expect((await cache.get(key.id))?.revokedAt).toBe(5)
  stored.set(key.id, { ...key, revokedAt: 6 })
  cache.forget(key.id)
  expect((await cache.get(key.id))?.revokedAt).toBe(6)
})

it('a key that was revoked while it was being read is not remembered as it was', async () => {
  const key = made()
  const { cache, stored } = cacheOver(key)
  const reading = cache.get(key.id)
  stored.set(key.id, { ...key, revokedAt: 5 })
  cache.forget(key.id)
  await reading
  expect((await cache.get(key.id))?.revokedAt).toBe(5)
})

it('a new key works within a second of having been unknown', async () => {
  const key = made()
  const { cache, stored, time, asked } = cacheOver()
  expect(await cache.get(key.id)).toBeNull()
  stored.set(key.id, key)
  expect(await cache.get(key.id)).toBeNull()
  expect(asked).toHaveLength(1)
  time.now += 1_001
  expect(await cache.get(key.id)).toBe(key)
})

it('a flood of made-up keys pushes no real one out, and is bounded itself', async () => {
  const key = made()
  const { cache, asked } = cacheOver(key)
  await cache.get(key.id)
  const first = made().id
  await cache.get(first)
  for (let i = 0; i < 20_000; i += 1) await cache.get(`flood-${i}` as KeyId)
  asked.length = 0
  await cache.get(key.id)
  expect(asked).toEqual([])
  // The first of the flood was forgotten for the last.
  await cache.get(first)
  await cache.get('flood-19999' as KeyId)
  expect(asked).toEqual([first])
})

it('too many unseen keys at once are sent away, and known ones are not', async () => {
  const key = made()
  const { cache } = cacheOver(key)
  await cache.get(key.id)
  const flood = Array.from({ length: 300 }, (_, i) => cache.get(`flood-${i}` as KeyId))
  await expect(cache.get(made().id)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 1 })
  expect(await cache.get(key.id)).toBe(key)
  const outcomes = await Promise.allSettled(flood)
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBe(300 - 256)
  expect(await cache.get(made().id)).toBeNull()
})

it('a known key is read anew in the middle of a flood', async () => {
  const key = made()
  const { cache, time, stored } = cacheOver(key)
  await cache.get(key.id)
  time.now += 3_001
  stored.set(key.id, { ...key, revokedAt: 5 })
  const flood = Array.from({ length: 300 }, (_, i) => cache.get(`flood-${i}` as KeyId))
  expect((await cache.get(key.id))?.revokedAt).toBe(5)
  await Promise.allSettled(flood)
})

it('a store that cannot be read lets nobody in, and is asked again', async () => {
  const key = made()
  const { cache, state } = cacheOver(key)
  state.broken = true
  await expect(cache.get(key.id)).rejects.toMatchObject({ status: 503, code: 'gateway/keys-unreadable' })
  state.broken = false
  expect(await cache.get(key.id)).toBe(key)
})
