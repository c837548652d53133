import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng, seedOf } from './rng.ts'

const take = (n: number, ...parts: (string | number)[]) => {
  const random = rng(...parts)
  return Array.from({ length: n }, () => random.next())
}

describe('seedOf', () => {
  it('depends on every part, its type and its place', () => {
    const seeds = [seedOf('a', 1), seedOf('a', '1'), seedOf(1, 'a'), seedOf('a'), seedOf('a1'), seedOf('a', 1, 0)]
    expect(new Set(seeds).size).toBe(seeds.length)
  })

  it('is a 32-bit whole number', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer())), (parts) => {
        const seed = seedOf(...parts)
        expect(Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32).toBe(true)
      }),
    )
  })
})

describe('rng', () => {
  it('repeats its stream for equal keys, and has another one for other keys', () => {
    expect(take(5, 'run', 3)).toEqual(take(5, 'run', 3))
    expect(take(5, 'run', 3)).not.toEqual(take(5, 'run', 4))
  })

  it('is uniform in [0, 1)', () => {
    const draws = take(20_000, 'uniform')
    expect(Math.min(...draws)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...draws)).toBeLessThan(1)
    for (let decile = 0; decile < 10; decile++) {
      const share = draws.filter((u) => Math.floor(u * 10) === decile).length / draws.length
      // Standard error 0.0021: five of them.
      expect(Math.abs(share - 0.1)).toBeLessThan(0.011)
    }
  })

  it('draws every whole number below the bound', () => {
    const random = rng('int')
    expect(new Set(Array.from({ length: 200 }, () => random.int(4)))).toEqual(new Set([0, 1, 2, 3]))
  })

  it('shuffles into a permutation and leaves the original alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer(), (items, seed) => {
        const before = [...items]
        const shuffled = rng(seed).shuffle(items)
        expect(items).toEqual(before)
        expect(shuffled.toSorted((a, b) => a - b)).toEqual(items.toSorted((a, b) => a - b))
      }),
    )
  })

  it('puts each item first equally often', () => {
    const random = rng('shuffle')
    const firsts = Array.from({ length: 6000 }, () => random.shuffle(['a', 'b', 'c'])[0])
    for (const item of ['a', 'b', 'c']) {
      // Standard error 0.0061: five of them.
      expect(Math.abs(firsts.filter((first) => first === item).length / 6000 - 1 / 3)).toBeLessThan(0.031)
    }
  })
})
