import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { paceOf } from './pace.ts'

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
