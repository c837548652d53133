import { round } from '../round.ts'

/** Cohen's kappa of two raters; `null` where both always say one and the same. */
export function cohen(pairs: readonly (readonly [number, number])[]): number | null {
  const rate = (of: (pair: readonly [number, number]) => boolean) => pairs.filter(of).length / pairs.length
  const categories = [...new Set(pairs.flat())]
  const agreed = rate(([a, b]) => a === b)
  let byChance = 0
  for (const category of categories) byChance += rate(([a]) => a === category) * rate(([, b]) => b === category)
  return pairs.length === 0 || byChance === 1 ? null : round((agreed - byChance) / (1 - byChance))
}

/** The middle of some values, at least one; of an even number the mean of the middle two. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  return ((sorted[Math.ceil(half) - 1] ?? 0) + (sorted[Math.floor(half)] ?? 0)) / 2
}
