import { z } from 'zod'

/** How often something was seen, and what it came to: count, mean, and the sum of squared distances from the mean. */
export const Moments = z.strictObject({
  count: z.int().nonnegative(),
  mean: z.number(),
  squares: z.number().nonnegative(),
})
export type Moments = z.infer<typeof Moments>

export const noMoments: Moments = { count: 0, mean: 0, squares: 0 }

/** With one more (Welford 1962). */
export function withOne({ count, mean, squares }: Moments, value: number): Moments {
  const next = mean + (value - mean) / (count + 1)
  return { count: count + 1, mean: next, squares: squares + (value - mean) * (value - next) }
}

/**
 * The variance of their mean, of values in [-1, 1]. Where all were equal, one more that is as far as can be is still allowed
 * for.
 */
export const varianceOfMean = ({ count, squares }: Moments): number =>
  Math.max(squares / Math.max(1, count - 1), 1 / (count + 1)) / count
