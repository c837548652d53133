import { expect, it } from 'vitest'
import { adam } from './adam.ts'

it('takes the first step by hand', () => {
  // The first step of Adam is the rate, against the sign of the slope; where there is no slope, none.
  const values = Float64Array.from([1, 1, 1])
  adam(3, 0.1)(values, Float64Array.from([5, -0.02, 0]))
  expect([...values]).toEqual([expect.closeTo(0.9, 4), expect.closeTo(1.1, 4), 1])
})
