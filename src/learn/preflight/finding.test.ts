import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { counted, gravity, quoted, spread } from './finding.ts'

it('words counts, and stops for more than half', () => {
  expect(counted(3, 16, 'demonstration', ['calls', 'call'])).toBe('3 of 16 demonstrations call')
  expect(counted(1, 1, 'demonstration', ['calls', 'call'])).toBe('1 of 1 demonstration calls')
  expect([gravity(8, 16), gravity(9, 16), gravity(1, 1)]).toEqual(['warn', 'stop', 'stop'])
})

it('quotes on one line, cut', () => {
  expect(quoted('a\r\nb\u001b[1m')).toBe('"a??b?[1m"')
  expect(quoted('x'.repeat(1_000_000))).toHaveLength(83)
})

it('spreads over a list in its order', () => {
  expect(spread([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 3)).toEqual([0, 4, 7])
  fc.assert(
    fc.property(fc.nat(300), fc.integer({ min: 1, max: 64 }), (length, limit) => {
      const items = Array.from({ length }, (_, i) => i)
      const taken = spread(items, limit)
      expect(taken).toHaveLength(Math.min(length, limit))
      expect(taken.toSorted((a, b) => a - b)).toEqual(taken)
      if (length > 0) expect(taken[0]).toBe(0)
    }),
  )
})
