import type { Rng } from '../../core/index.ts'

/**
 * Draws items without repetition, each with a weight above 0 (Efraimidis & Spirakis 2006: the largest of u^(1/w)). Where
 * there are no more than `count`, all of them.
 */
export function weightedDraw<T>(
  items: readonly T[],
  weightOf: (item: T) => number,
  count: number,
  random: Rng,
): readonly T[] {
  return items
    .map((item) => ({ item, key: Math.log(Math.max(random.next(), Number.MIN_VALUE)) / weightOf(item) }))
    .toSorted((a, b) => b.key - a.key)
    .slice(0, count)
    .map(({ item }) => item)
}
