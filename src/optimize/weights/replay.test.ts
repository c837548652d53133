import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { replayMix } from './replay.ts'

const items = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${name}${i}`)
const mix = (fresh: number, earlier: number, share: number, key: number | string = 'k') =>
  replayMix({ fresh: items('f', fresh), earlier: items('e', earlier), share, rng: rng(key) })

describe('a replay mix', () => {
  it('is a quarter earlier samples when a quarter is asked for', () => {
    const batch = mix(12, 100, 0.25)
    expect(batch.slice(0, 12)).toEqual(items('f', 12))
    expect(batch).toHaveLength(16)
    expect(new Set(batch).size).toBe(16)
  })

  it('holds every fresh sample once, first and in order, and earlier ones as evenly as can be', () => {
    const share = fc.double({ min: 0, max: 0.9, noNaN: true })
    fc.assert(
      fc.property(fc.nat(20), fc.nat(8), share, fc.nat(), (fresh, earlier, share, key) => {
        const batch = mix(fresh, earlier, share, key)
        expect(batch.slice(0, fresh)).toEqual(items('f', fresh))
        const drawn = batch.slice(fresh)
        const wanted = earlier === 0 ? 0 : (fresh * share) / (1 - share)
        expect(Math.abs(drawn.length - wanted)).toBeLessThan(1)
        const times = items('e', earlier).map((name) => drawn.filter((one) => one === name).length)
        expect(Math.max(0, ...times) - Math.min(...times, Math.max(0, ...times))).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('keeps its share over many small batches', () => {
    const random = rng('small')
    const drawn = Array.from(
      { length: 3000 },
      () => replayMix({ fresh: ['f'], earlier: items('e', 50), share: 0.2, rng: random }).length - 1,
    )
    // A quarter of a sample each; three standard errors.
    expect(drawn.reduce((sum, count) => sum + count, 0) / 3000).toBeCloseTo(0.25, 1)
    expect(Math.abs(drawn.reduce((sum, count) => sum + count, 0) / 3000 - 0.25)).toBeLessThan(0.024)
  })

  it('is the fresh batch without a share, or without a past', () => {
    expect(mix(3, 5, 0)).toEqual(items('f', 3))
    expect(mix(3, 0, 0.5)).toEqual(items('f', 3))
    expect(mix(0, 5, 0.5)).toEqual([])
  })

  it.each([-0.1, 1, Number.NaN])('cannot have a share of %s', (share) => {
    expect(() => mix(3, 5, share)).toThrow(expect.objectContaining({ code: 'optimize/bad-option' }))
  })
})
