import { expect, it } from 'vitest'
import * as fc from 'fast-check'
import { AdapterShelf } from './adapter-shelf.ts'

const hashOf = (i: number) => String(i).repeat(64)

function shelf({ most = 2, fails = () => false }: { most?: number; fails?: (hash: string) => boolean } = {}) {
  const time = { at: 0, now: () => time.at }
  const held = new Set<string>()
  const story: string[] = []
  const loaded = new AdapterShelf<{ readonly hash: string }>({
    most,
    time,
    restMs: 100,
    load: async (hash) => {
      await Promise.resolve()
      story.push(`load ${hash[0]}`)
      if (fails(hash)) throw new Error(`no ${hash[0]}`)
      if (held.has(hash)) throw new Error('loaded twice')
      held.add(hash)
      return { hash }
    },
    unload: async ({ hash }) => {
      await Promise.resolve()
      story.push(`unload ${hash[0]}`)
      held.delete(hash)
    },
  })
  return { loaded, held, story, time }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('keeps what is used, and of the others the latest', async () => {
  const { loaded, held, story } = shelf()
  const first = await loaded.take(hashOf(1))
  for (const i of [2, 3]) (await loaded.take(hashOf(i))).giveBack()
  await settled()
  expect([...held]).toEqual([hashOf(1), hashOf(3)])
  first.giveBack()
  first.giveBack()
  await loaded.prepare(hashOf(4))
  await settled()
  expect([...held]).toEqual([hashOf(3), hashOf(4)])
  expect(story).toEqual(['load 1', 'load 2', 'load 3', 'unload 2', 'load 4', 'unload 1'])
})

it('remembers a failure for a moment, for requests; whoever prepares tries again', async () => {
  let broken = true
  const { loaded, story, time } = shelf({ fails: () => broken })
  for (let i = 0; i < 3; i += 1) await expect(loaded.take(hashOf(1))).rejects.toThrow('no 1')
  expect(story).toEqual(['load 1'])
  await expect(loaded.prepare(hashOf(1))).rejects.toThrow('no 1')
  broken = false
  time.at = 101
  expect((await loaded.take(hashOf(1))).adapter.hash).toBe(hashOf(1))
  expect(story).toEqual(['load 1', 'load 1', 'load 1'])
})

it('loads again what its holder has forgotten, once', async () => {
  const { loaded, held, story } = shelf()
  const one = await loaded.take(hashOf(1))
  held.clear()
  loaded.forget(hashOf(1), one.adapter)
  const other = await loaded.take(hashOf(1))
  loaded.forget(hashOf(1), one.adapter)
  expect((await loaded.take(hashOf(1))).adapter).toBe(other.adapter)
  expect(story).toEqual(['load 1', 'load 1'])
})

it('never unloads what a request uses, nor loads twice, however requests come and go', async () => {
  const step = fc.record({ hash: fc.integer({ min: 1, max: 5 }), backs: fc.integer({ min: 0, max: 3 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 3 }), async (steps, most) => {
      const { loaded, held } = shelf({ most })
      const taken: { hash: string; giveBack: () => void }[] = []
      for (const { hash, backs } of steps) {
        const { adapter, giveBack } = await loaded.take(hashOf(hash))
        taken.push({ hash: adapter.hash, giveBack })
        for (const { giveBack: back } of taken.splice(0, backs)) back()
        if (backs === 2) await settled()
        for (const used of taken) expect(held).toContain(used.hash)
      }
      for (const { giveBack } of taken) giveBack()
      await settled()
      expect(held.size).toBeLessThanOrEqual(most)
    }),
    { numRuns: 60 },
  )
})
