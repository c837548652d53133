import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CandidateLevel, Store } from '../core/index.ts'
import { RecordConflictError } from './errors/index.ts'

/** What every Store does with levels of candidates, whatever is under it. `open` gives an empty one. */
export function levelConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: levels of candidates`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    const level = (candidate: number, change: Partial<CandidateLevel> = {}): CandidateLevel => ({
      agent: 'support',
      candidate,
      key: `k${candidate}`,
      alpha: 0.1 / (3 * candidate),
      promotions: 0,
      promoted: false,
      at: 10.5,
      ...change,
    })

    it('come back as they were, and are counted where they were promoted', async () => {
      for (const one of [level(1), level(2), level(1, { agent: 'other' }), level(2)]) await store.levels.put(one)
      expect(await store.levels.get('support', 'k2')).toEqual(level(2))
      expect(await store.levels.get('support', 'k3')).toBeNull()
      expect(await store.levels.latest('support')).toEqual(level(2))
      expect(await store.levels.latest('nobody')).toBeNull()
      for (const key of ['k1', 'k1', 'k9']) await store.levels.promoted('support', key)
      expect(await store.levels.countPromoted('support')).toBe(1)
      expect(await store.levels.countPromoted('other')).toBe(0)
      expect(await store.levels.get('support', 'k1')).toEqual(level(1, { promoted: true }))
    })

    it('are spent once: no number and no candidate twice', async () => {
      await store.levels.put(level(1))
      await expect(store.levels.put(level(1, { key: 'else' }))).rejects.toThrow(RecordConflictError)
      await expect(store.levels.put(level(2, { key: 'k1' }))).rejects.toThrow(RecordConflictError)
      expect(await store.levels.latest('support')).toEqual(level(1))
    })
  })
}
