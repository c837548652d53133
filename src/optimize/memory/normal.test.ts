import { expect, it } from 'vitest'
import { upperQuantile } from './normal.ts'

// R: qnorm(p, lower.tail = FALSE).
it.each([
  [0.05, 1.6448536],
  [0.025, 1.959964],
  [0.05 / 16, 2.7343687],
  [1e-6, 4.7534243],
])('a standard normal exceeds with probability %d the value %d', (probability, value) => {
  expect(upperQuantile(probability)).toBeCloseTo(value, 3)
})
