import { describe, expect, it } from 'vitest'
import { PrefixRouter } from './router.ts'

const prompt = (length: number, seed: number) => Int32Array.from({ length }, (_, i) => seed * 1000 + i)
const extended = (tokens: Int32Array, more: number) => Int32Array.of(...tokens, ...prompt(more, 9))

describe('routing', () => {
  it('spreads unrelated prompts', () => {
    const router = new PrefixRouter(2)
    const workers = Array.from({ length: 8 }, (_, i) => router.place(null, prompt(32, i), 16).worker)
    expect(workers.filter((worker) => worker === 0)).toHaveLength(4)
  })

  it('sends the next turn to the worker that holds the episode', () => {
    const router = new PrefixRouter(3)
    for (let episode = 0; episode < 3; episode++) {
      const tokens = prompt(64, episode)
      const placement = router.place('a', tokens, 8)
      router.release(placement, 'a', tokens, prompt(8, 50 + episode))
      const history = Int32Array.of(...tokens, ...prompt(8, 50 + episode))
      expect(router.place('a', extended(history, 16), 8).worker).toBe(placement.worker)
    }
  })

  it('keeps a group with a long prompt together, until the worker is much busier', () => {
    const router = new PrefixRouter(2)
    const shared = prompt(400, 1)
    const workers = Array.from({ length: 60 }, () => router.place(null, shared, 16).worker)
    expect(new Set(workers.slice(0, 8)).size).toBe(1)
    expect(new Set(workers).size).toBe(2)
  })

  it('does not take one adapter’s prefix for another’s', () => {
    const router = new PrefixRouter(2)
    const first = router.place('a', prompt(64, 1), 8)
    expect(router.place('b', prompt(64, 1), 8).worker).not.toBe(first.worker)
  })
})
