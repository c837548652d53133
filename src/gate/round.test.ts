import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { roundUp } from './round.ts'

it('rounds a p-value up to nine digits, by less than a unit of the last', () => {
  expect(roundUp(0.25)).toBe(0.25)
  expect(roundUp(0.25 + 2 ** -50)).toBe(0.250000001)
  expect(roundUp(1)).toBe(1)
  expect(roundUp(0)).toBe(0)
  fc.assert(
    fc.property(fc.double({ min: 1e-300, max: 1, noNaN: true }), (p) => {
      const rounded = roundUp(p)
      expect(rounded).toBeGreaterThanOrEqual(p)
      expect(rounded).toBeLessThanOrEqual(p * (1 + 1.01e-8))
      expect(Number(rounded.toPrecision(9))).toBe(rounded)
    }),
  )
})
