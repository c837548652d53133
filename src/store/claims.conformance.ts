import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../core/index.ts'

/** What every Store does with claims on requests, whatever is under it. `open` gives an empty one. */
export function claimConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: claims on requests`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    const request = (key: string, body = 'b') => ({ tenant: 'acme', apiKey: 'k1', identity: { key, body } })
    const at = (now: number) => ({ now, ttlMs: 100 })
    const take = (key: string, gateway: string, now: number, body?: string) =>
      store.claims.take(request(key, body), gateway, at(now))

    it('are of one gateway until they are released or expire', async () => {
      expect(await take('a', 'one', 10)).toBeNull()
      expect(await take('a', 'two', 109, 'other')).toEqual({ body: 'b', expiresAt: 110 })
      expect(await take('a', 'one', 50)).toBeNull()
      expect(await take('a', 'two', 149)).toEqual({ body: 'b', expiresAt: 150 })
      expect(await take('a', 'two', 150)).toBeNull()
      await store.claims.release(request('a'), 'one')
      expect(await take('a', 'one', 151)).toEqual({ body: 'b', expiresAt: 250 })
      await store.claims.release(request('a'), 'two')
      expect(await take('a', 'one', 152, 'new')).toBeNull()
      expect(await take('a', 'two', 153)).toEqual({ body: 'new', expiresAt: 252 })
    })

    it('are on what one key asked in one tenant', async () => {
      expect(await take('b', 'one', 10)).toBeNull()
      for (const other of [{ tenant: 'other' }, { apiKey: 'k2' }, { identity: { key: 'B', body: 'b' } }]) {
        expect(await store.claims.take({ ...request('b'), ...other }, 'two', at(10))).toBeNull()
      }
    })

    it('last as long as their gateway says so; those of a dead one go', async () => {
      for (const key of ['c', 'd']) expect(await take(key, 'one', 10)).toBeNull()
      expect(await take('e', 'dead', 10)).toBeNull()
      await store.claims.renew('one', at(100))
      for (const key of ['c', 'd']) expect(await take(key, 'two', 110)).toEqual({ body: 'b', expiresAt: 200 })
      await store.claims.renew('one', at(70_000))
      expect(await take('e', 'two', 0)).toBeNull()
      expect(await take('c', 'two', 110)).toEqual({ body: 'b', expiresAt: 70_100 })
    })

    it('have one winner of many at once, time after time', async () => {
      for (let round = 0; round < 20; round += 1) {
        const gateways = Array.from({ length: 12 }, (_, i) => `g${i}`)
        const taken = await Promise.all(gateways.map((gateway) => take(`r${round}`, gateway, 10, gateway)))
        const winner = gateways.filter((_, i) => taken[i] === null)
        expect(winner).toHaveLength(1)
        for (const other of taken) if (other) expect(other).toEqual({ body: winner[0], expiresAt: 110 })
      }
    })
  })
}
