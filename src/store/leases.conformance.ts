import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Lease, Store } from '../core/index.ts'
import { present } from '../errors/index.ts'

/** One thing that a holder does, so many milliseconds after the one before. */
type Act = {
  readonly kind: 'acquire' | 'renew' | 'release'
  readonly holder: string
  readonly after: number
  readonly ttlMs: number
}

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('acquire', 'acquire', 'renew', 'release'),
    holder: fc.constantFrom('one', 'two', 'three'),
    after: fc.constantFrom(0, 1, 5, 10),
    ttlMs: fc.constantFrom(1, 5, 20),
  }),
  { maxLength: 25 },
)

/** What every Store does with leases, whatever is under it. `open` gives an empty one. */
export function leaseConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: leases`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    const acquire = (holder: string, now: number, ttlMs = 100) =>
      store.leases.acquire('learn:support', holder, { now, ttlMs })
    const held = async (holder: string, now: number) => present(await acquire(holder, now), 'the lease')

    it('are had by one, until they are given up', async () => {
      const lease = await held('one', 1_000.5)
      expect(lease).toEqual({ name: 'learn:support', holder: 'one', token: 1, expiresAt: 1_100.5 })
      expect(await acquire('two', 1_050)).toBeNull()
      expect(await store.leases.get('learn:support')).toEqual(lease)
      await store.leases.release(lease)
      expect(await store.leases.get('learn:support')).toBeNull()
      expect(await acquire('two', 1_050)).toMatchObject({ holder: 'two', token: 2, expiresAt: 1_150 })
    })

    it('of other names are others', async () => {
      await held('one', 0)
      expect(await store.leases.acquire('learn:sales', 'two', { now: 0, ttlMs: 100 })).toMatchObject({ token: 1 })
      expect(await store.leases.get('learn:nothing')).toBeNull()
    })

    it('are free once they have expired, and not before', async () => {
      await held('one', 1_000)
      expect(await acquire('two', 1_099.9)).toBeNull()
      expect(await acquire('two', 1_100)).toMatchObject({ holder: 'two', token: 2 })
      expect(await store.leases.get('learn:support')).toMatchObject({ holder: 'two' })
    })

    it('last longer when they are renewed', async () => {
      const lease = await held('one', 1_000)
      const renewed = await store.leases.renew(lease, { now: 1_090, ttlMs: 100 })
      expect(renewed).toEqual({ ...lease, expiresAt: 1_190 })
      expect(await acquire('two', 1_150)).toBeNull()
      // Nobody took it meanwhile.
      expect(await store.leases.renew(lease, { now: 1_500, ttlMs: 100 })).toEqual({ ...lease, expiresAt: 1_600 })
    })

    it('keep their token for a holder that asks again, and get another when they were lost between', async () => {
      const lease = await held('one', 1_000)
      expect(await held('one', 1_050)).toEqual({ ...lease, expiresAt: 1_150 })
      expect(await held('one', 1_150)).toEqual({ ...lease, token: 2, expiresAt: 1_250 })
      expect(await store.leases.renew(lease, { now: 1_160, ttlMs: 100 })).toBeNull()
    })

    it('that were lost are neither renewed nor given up', async () => {
      const lost = await held('one', 1_000)
      const taken = await held('two', 1_100)
      expect(await store.leases.renew(lost, { now: 1_101, ttlMs: 100 })).toBeNull()
      await store.leases.release(lost)
      // The same holder under an older token is another holding, too.
      await store.leases.release({ ...taken, token: lost.token })
      expect(await store.leases.get('learn:support')).toEqual(taken)
      await store.leases.release(taken)
      await store.leases.release(taken)
      expect(await store.leases.renew(taken, { now: 1_102, ttlMs: 100 })).toBeNull()
    })

    it('have one winner of many at once, time after time', async () => {
      for (let round = 1; round <= 10; round++) {
        const taken = await Promise.all(Array.from({ length: 8 }, (_, i) => acquire(`holder-${i}`, round * 100)))
        expect(taken.flatMap((lease) => lease?.token ?? [])).toEqual([round])
      }
    })

    it('are never had by two, and no token comes twice', async () => {
      let next = 0
      await fc.assert(
        fc.asyncProperty(acts, async (story) => {
          const lease = `lease ${next++}`
          const believed = new Map<string, Lease>()
          const lost = new Set<string>()
          const holderOf = new Map<number, string>()
          let now = 1_000
          for (const { kind, holder, after, ttlMs } of story) {
            now += after
            const own = believed.get(holder)
            if (kind === 'acquire') {
              const others = [...believed.values()].filter((one) => one.holder !== holder && one.expiresAt > now)
              const got = await store.leases.acquire(lease, holder, { now, ttlMs })
              expect(got === null).toBe(others.length > 0)
              if (!got) continue
              expect(got).toMatchObject({ name: lease, holder, expiresAt: now + ttlMs })
              const goesOn = own !== undefined && !lost.has(holder) && own.expiresAt > now
              expect(got.token).toBe(goesOn ? own.token : Math.max(0, ...holderOf.keys()) + 1)
              for (const other of believed.keys()) if (other !== holder) lost.add(other)
              holderOf.set(got.token, holder)
              believed.set(holder, got)
              lost.delete(holder)
            } else if (own && kind === 'renew') {
              const renewed = await store.leases.renew(own, { now, ttlMs })
              expect(renewed).toEqual(lost.has(holder) ? null : { ...own, expiresAt: now + ttlMs })
              if (renewed) believed.set(holder, renewed)
            } else if (own && kind === 'release') {
              await store.leases.release(own)
              believed.delete(holder)
              lost.delete(holder)
            }
            const holding = [...believed.values()].filter((one) => one.expiresAt > now && !lost.has(one.holder))
            expect(holding.length).toBeLessThanOrEqual(1)
          }
        }),
        { numRuns: 25 },
      )
    })
  })
}
