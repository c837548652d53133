import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { adapted, paceOf, settledPace, shortened } from './pace.ts'

it('is the root of the share of what is wanted', () => {
  expect(paceOf(0, 8)).toBe(0)
  expect(paceOf(2, 8)).toBe(0.5)
  expect(paceOf(4, 8)).toBeCloseTo(Math.SQRT1_2, 12)
  expect(paceOf(8, 8)).toBe(1)
  expect(paceOf(32, 8)).toBe(1)
})

it('is whole for anything where nothing is wanted, and nothing for nothing', () => {
  expect(paceOf(1, 0)).toBe(1)
  expect(paceOf(0, 0)).toBe(0)
})

it('is within [0, 1], and never falls as groups are added', () => {
  fc.assert(
    fc.property(fc.nat(100), fc.nat(100), (informative, wanted) => {
      const pace = paceOf(informative, wanted)
      expect(pace).toBeGreaterThanOrEqual(0)
      expect(pace).toBeLessThanOrEqual(1)
      expect(paceOf(informative + 1, wanted)).toBeGreaterThanOrEqual(pace)
    }),
  )
})

it('is whole while little succeeds, falls with what still fails, and never below the least', () => {
  const settling = { least: 0.25, slope: 2 }
  expect([0, 0.5, 0.75, 0.8, 0.875, 1].map((success) => settledPace(success, settling))).toEqual([
    1,
    1,
    0.5,
    expect.closeTo(0.4, 12),
    0.25,
    0.25,
  ])
})

describe('a stride', () => {
  it('shortens where the policy moved twice as far as wanted, and lengthens where half as far', () => {
    const stride = { scale: 0.3, most: 1 }
    expect(adapted(stride, 0.0041)).toEqual({ scale: expect.closeTo(0.2, 12) as number, most: 1 })
    expect(adapted(stride, 0.0009)).toEqual({ scale: expect.closeTo(0.45, 12) as number, most: 1 })
    for (const kl of [0.001, 0.002, 0.004]) expect(adapted(stride, kl)).toEqual(stride)
  })

  it('stays as it is where nothing was measured', () => {
    expect(adapted({ scale: 0.3, most: 1 }, null)).toEqual({ scale: 0.3, most: 1 })
  })

  it('is bounded for good by half of its bound after each collapse', () => {
    expect(shortened({ scale: 0.5, most: 1 })).toEqual({ scale: 0.25, most: 0.5 })
    expect(shortened({ scale: 1, most: 1 })).toEqual({ scale: 0.5, most: 0.5 })
    expect(shortened({ scale: 0.1, most: 1 })).toEqual({ scale: 0.05, most: 0.5 })
  })

  it('is above 0 and never above its bound, whatever happens to it', () => {
    const happening = fc.oneof(
      fc.constant('collapse' as const),
      fc.constant(null),
      fc.double({ min: 0, max: 1, noNaN: true }),
    )
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60 }), (happenings) => {
        let stride = { scale: 0.5, most: 1 }
        for (const kl of happenings) {
          const next = kl === 'collapse' ? shortened(stride) : adapted(stride, kl)
          if (kl === 'collapse') expect(next.scale).toBeLessThanOrEqual(stride.scale / 2)
          expect(next.scale).toBeGreaterThan(0)
          expect(next.scale).toBeLessThanOrEqual(next.most)
          expect(next.most).toBeLessThanOrEqual(stride.most)
          stride = next
        }
      }),
    )
  })
})
