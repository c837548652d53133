import { afterEach, expect, it } from 'vitest'
import type { Store } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { ExpiredKeys, keptMs } from './expired-keys.ts'
import { newKey } from './token.ts'

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

const hour = 60 * 60 * 1_000

async function sweeping(now: number, change: Partial<Store['keys']> = {}) {
  const store = await openMemoryStore()
  const clock = { time: now, now: () => clock.time }
  const problems: unknown[] = []
  opened.push(store)
  return {
    store,
    clock,
    problems,
    start: () => {
      const keys = { ...store.keys, ...change }
      const sweeper = new ExpiredKeys({ keys, clock, onProblem: (error) => problems.push(error) })
      opened.push(sweeper)
      return sweeper
    },
    put: async (name: string, expiresAt: number | null, session: string | null = name) => {
      const { key } = newKey({ name, tenant: 'default', scopes: ['infer'], session, expiresAt, now: 0 })
      await store.keys.put(key)
      return key
    },
    names: async () => (await store.keys.list({ limit: 10_000 })).map(({ name }) => name).toSorted(),
  }
}

it('removes keys of sessions a day after they expired, and no others', async () => {
  const { store, clock, put, start, names } = await sweeping(10 * hour)
  const early = await put('early', 11 * hour)
  const late = await put('late', 20 * hour)
  await put('for ever', null)
  await put('expired key of a person', 1, null)
  const sweeper = start()
  await sweeper.sweep()
  expect(await names()).toHaveLength(4)

  clock.time = 11 * hour + keptMs
  await sweeper.sweep()
  expect(await store.keys.get(early.id)).not.toBeNull()
  clock.time += 1
  await sweeper.sweep()
  expect(await store.keys.get(early.id)).toBeNull()
  expect(await store.keys.get(late.id)).not.toBeNull()

  clock.time = 1_000 * 24 * hour
  await sweeper.sweep()
  expect(await names()).toEqual(['expired key of a person', 'for ever'])
})

it('removes many, a part at a time', async () => {
  const { put, start, names } = await sweeping(keptMs + 10)
  for (let i = 0; i < 1_203; i += 1) await put(`session ${i}`, 1 + (i % 3))
  await put('left', 11)
  await start().sweep()
  expect(await names()).toEqual(['left'])
})

it('tells of a sweep that failed, and tries again', async () => {
  let broken = true
  const { store, put, problems, start, names } = await sweeping(keptMs + 10, {
    removeExpired: (before, limit) =>
      broken ? Promise.reject(new Error('disk')) : store.keys.removeExpired(before, limit),
  })
  await put('a', 1)
  const sweeper = start()
  await sweeper.sweep()
  expect(problems).toHaveLength(1)
  broken = false
  await sweeper.sweep()
  expect(await names()).toEqual([])
})
