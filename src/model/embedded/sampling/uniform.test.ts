import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sampleSeed, uniform } from './uniform.ts'

/** 53 bits of a pair of 32-bit words, as a number in [0, 1). */
const fraction = (left: number, right: number) => (left * 2 ** 21 + (right >>> 11)) / 2 ** 53

describe('uniform', () => {
  it('is Philox-2x32-10: the known answer of its authors', () => {
    expect(uniform(0, 0)).toBe(fraction(0xff1dae59, 0x6cd10df2))
  })

  it('uses all bits of the seed', () => {
    expect(uniform(2 ** 53 - 1, 0)).not.toBe(uniform(2 ** 32 - 1, 0))
  })

  it('is uniform over positions and over seeds (χ² of 64 cells, p > 1e-6)', () => {
    for (const draw of [
      (i: number) => uniform(7, i),
      (i: number) => uniform(i, 3),
      (i: number) => uniform(i * 2 ** 21, 0),
    ]) {
      const cells = Array<number>(64).fill(0)
      for (let i = 0; i < 64_000; i++) {
        const cell = Math.floor(draw(i) * 64)
        cells[cell] = cells[cell]! + 1
      }
      const chiSquare = cells.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0)
      // 63 degrees of freedom: mean 63, and 130 is exceeded once in a million.
      expect(chiSquare).toBeLessThan(130)
    }
  })

  it('does not correlate neighbouring seeds', () => {
    let product = 0
    for (let seed = 0; seed < 20_000; seed++) product += (uniform(seed, 0) - 0.5) * (uniform(seed + 1, 0) - 0.5)
    // Variance of one term is 1/144.
    expect(Math.abs(product / 20_000)).toBeLessThan(5 / 12 / Math.sqrt(20_000))
  })
})

describe('sampleSeed', () => {
  const seeds = fc.oneof(
    fc.maxSafeInteger(),
    fc.constantFrom(0, 1, 2 ** 32 - 1, 2 ** 52 - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, -1),
  )

  it('keeps a small seed, and counts on by one', () => {
    expect(Array.from({ length: 8 }, (_, sample) => sampleSeed(3, sample))).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('is the sum modulo 2⁵³, exactly, whatever the seed', () => {
    fc.assert(
      fc.property(seeds, fc.nat(1000), (seed, sample) => {
        const modulus = 2n ** 53n
        const sum = (BigInt(seed) + BigInt(sample)) % modulus
        expect(BigInt(sampleSeed(seed, sample))).toBe((sum + modulus) % modulus)
      }),
    )
  })

  it('gives every sample of a request a seed of its own', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(new Set(Array.from({ length: 64 }, (_, sample) => sampleSeed(seed, sample))).size).toBe(64)
      }),
    )
  })
})
