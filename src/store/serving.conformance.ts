import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Pin, Store } from '../core/index.ts'
import { canaries } from './canaries.conformance.ts'
import { GenerationConflictError, UnknownReferenceError } from './errors/index.ts'
import { sample } from './store.conformance.ts'

const pinOf = (agent: string, release: string, change: object = {}): Pin => ({
  agent,
  release: sample.release(release).id,
  reason: 'Wait for the audit.',
  at: 50.5,
  ...change,
})

/** What every Store knows of what serves, whatever is under it. `open` gives an empty one. */
export function servingConformance(name: string, open: () => Promise<Store>): void {
  describe(`${name}: what serves`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
      for (const id of ['a', 'b']) await store.releases.put(sample.release(id))
      await store.releases.put(sample.release('c', { agent: 'sales' }))
    })
    afterEach(() => store.close())

    it('is every agent’s latest activation', async () => {
      expect(await store.releases.serving()).toEqual([])
      const [a, b] = [sample.release('a'), sample.release('b')]
      const sales = sample.activation(sample.release('c', { agent: 'sales' }), 1)
      const activations = [sample.activation(a, 1), sales, sample.activation(b, 2), sample.activation(a, 3)]
      for (const activation of activations) await store.releases.activate(activation)
      expect(await store.releases.serving()).toEqual([sales, sample.activation(a, 3)])
    })

    it('is pinned until it is let go of, each agent’s by itself', async () => {
      expect(await store.releases.pinned('support')).toBeNull()
      await store.releases.pin('support', pinOf('support', 'a'))
      await store.releases.pin('sales', pinOf('sales', 'c'))
      const moved = pinOf('support', 'b', { reason: '', at: 60 })
      await store.releases.pin('support', moved)
      expect(await store.releases.pinned('support')).toEqual(moved)
      await store.releases.pin('support', null)
      await store.releases.pin('support', null)
      expect(await store.releases.pinned('support')).toBeNull()
      expect(await store.releases.pinned('sales')).toEqual(pinOf('sales', 'c'))
    })

    it('is pinned to a release that exists, of the agent that is named', async () => {
      await expect(store.releases.pin('support', pinOf('support', 'z'))).rejects.toThrow(UnknownReferenceError)
      await expect(store.releases.pin('support', pinOf('sales', 'c'))).rejects.toMatchObject({
        code: 'core/invariant',
      })
      expect(await store.releases.pinned('support')).toBeNull()
    })

    describe('has a revision', () => {
      const grows = async (change: () => Promise<unknown>) => {
        const before = await store.releases.revision()
        await change()
        return (await store.releases.revision()) > before
      }

      it('that grows with activations, pins and canaries', async () => {
        expect(await store.releases.revision()).toBe(0)
        const canary = canaries.canary('k')
        expect(await grows(() => store.releases.activate(sample.activation(sample.release('a'), 1)))).toBe(true)
        expect(await grows(() => store.releases.pin('support', pinOf('support', 'a')))).toBe(true)
        expect(await grows(() => store.releases.pin('support', null))).toBe(true)
        expect(await grows(() => store.canaries.put(canary))).toBe(true)
        expect(await grows(() => store.canaries.put({ ...canary, step: 1 }))).toBe(true)
      })

      it('that stays where nothing that serves has changed', async () => {
        await store.canaries.put(canaries.canary('k'))
        expect(await grows(() => store.canaries.put(canaries.canary('k')))).toBe(false)
        expect(await grows(() => store.canaries.appendEvent(canaries.event('k', 0)))).toBe(false)
        expect(await grows(() => store.releases.put(sample.release('d')))).toBe(false)
        const skips = sample.activation(sample.release('a'), 7)
        expect(await grows(() => expect(store.releases.activate(skips)).rejects.toThrow(GenerationConflictError))).toBe(
          false,
        )
      })

      it('that commits with the change, or does not', async () => {
        const activation = sample.activation(sample.release('a'), 1)
        const rolledBack = store.transaction(async (tx) => {
          await tx.releases.activate(activation)
          expect(await tx.releases.revision()).toBe(1)
          throw new Error('no')
        })
        await expect(rolledBack).rejects.toThrow('no')
        expect(await store.releases.revision()).toBe(0)
        await store.transaction(async (tx) => {
          await tx.releases.activate(activation)
          await tx.releases.pin('support', pinOf('support', 'a'))
        })
        expect(await store.releases.revision()).toBe(2)
      })

      it('that misses no change of many at once', async () => {
        const pins = Array.from({ length: 40 }, (_, i) => pinOf(`agent-${i}`, 'a', { at: i }))
        await Promise.all(pins.map((pin) => store.releases.pin(pin.agent, pin)))
        expect(await store.releases.revision()).toBe(40)
      })
    })
  })
}
