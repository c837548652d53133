import { normalQuantile } from '../../core/index.ts'
import { mean } from './accuracy.ts'

/** Student's t at a probability, by Cornish and Fisher's series (Abramowitz & Stegun 26.7.5): within 0.003 from 9 degrees on. */
export function studentQuantile(probability: number, degrees: number): number {
  const z = normalQuantile(probability)
  return (
    z +
    (z ** 3 + z) / (4 * degrees) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degrees ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degrees ** 3)
  )
}

/** The mean with its lower and upper bound, each one-sided at `alpha`: Student's. Two values at least. */
export function boundsOf(
  values: readonly number[],
  alpha: number,
): { readonly mean: number; readonly low: number; readonly high: number } {
  const middle = mean(values)
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
  const half = studentQuantile(1 - alpha, values.length - 1) * Math.sqrt(variance / values.length)
  return { mean: middle, low: middle - half, high: middle + half }
}
