import { randomFillSync } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStore, UnreachableStoreError } from '../src/store/index.ts'
import { makeTestDatabase, type TestDatabase } from './support/postgres.ts'
import { startPostgresProxy } from './support/postgres-proxy.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await makeTestDatabase()
})
afterAll(() => database.drop())

it('does not wait for ever for a server that takes the connection and never says a word', async () => {
  const proxy = await startPostgresProxy(database.url)
  proxy.door = 'silent'
  const begun = performance.now()
  await expect(openStore({ url: proxy.url })).rejects.toThrow(UnreachableStoreError)
  expect(performance.now() - begun).toBeLessThan(15_000)
  await proxy.close()
})

it('keeps an adapter of 100 MB while others write', async () => {
  const store = await openStore({ url: database.url })
  const bytes = randomFillSync(new Uint8Array(100 * 1024 * 1024))
  const state = { putting: true }
  const waits: number[] = []
  const others = (async () => {
    while (state.putting) {
      const begun = performance.now()
      await store.blobs.put(Buffer.from(String(waits.length)))
      waits.push(performance.now() - begun)
    }
  })()
  const hash = await store.blobs.put(bytes)
  state.putting = false
  await others
  expect(waits.length).toBeGreaterThan(5)
  expect(Buffer.compare(await store.blobs.get(hash), bytes)).toBe(0)
  await store.close()
})
