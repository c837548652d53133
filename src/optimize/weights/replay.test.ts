import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../../core/index.ts'
import { drawReplay } from './replay.ts'

const items = (count: number) => Array.from({ length: count }, (_, i) => `e${i}`)
const draw = (fresh: number, earlier: number, share: number, key: number | string = 'k') =>
  drawReplay({ fresh, earlier: items(earlier), share, rng: rng(key) })

describe('replay', () => {
  it('is a quarter of all when a quarter is asked for', () => {
    const drawn = draw(12, 100, 0.25)
    expect(drawn).toHaveLength(4)
    expect(new Set(drawn).size).toBe(4)
  })

  it('is its share of all, and draws the earlier ones as evenly as can be', () => {
    const share = fc.double({ min: 0, max: 0.9, noNaN: true })
    fc.assert(
      fc.property(fc.nat(20), fc.nat(8), share, fc.nat(), (fresh, earlier, share, key) => {
        const drawn = draw(fresh, earlier, share, key)
        const wanted = earlier === 0 ? 0 : (fresh * share) / (1 - share)
        expect(Math.abs(drawn.length - wanted)).toBeLessThan(1)
        const times = items(earlier).map((name) => drawn.filter((one) => one === name).length)
        expect(Math.max(0, ...times) - Math.min(...times, Math.max(0, ...times))).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('keeps its share over many small draws', () => {
    const random = rng('small')
    const drawn = Array.from(
      { length: 3000 },
      () => drawReplay({ fresh: 1, earlier: items(50), share: 0.2, rng: random }).length,
    )
    // A quarter each; three standard errors.
    expect(Math.abs(drawn.reduce((sum, count) => sum + count, 0) / 3000 - 0.25)).toBeLessThan(0.024)
  })

  it('is nothing without a share, a past, or anything fresh', () => {
    expect(draw(3, 5, 0)).toEqual([])
    expect(draw(3, 0, 0.5)).toEqual([])
    expect(draw(0, 5, 0.5)).toEqual([])
  })

  it.each([-0.1, 1, Number.NaN])('cannot have a share of %s', (share) => {
    expect(() => draw(3, 5, share)).toThrow(expect.objectContaining({ code: 'optimize/bad-option' }))
  })
})
