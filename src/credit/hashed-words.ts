import { seedOf, wordsIn, zeros } from '../core/index.ts'

/** Numbers that {@link hashedWords} gives. */
export const wordBuckets = 32

/** The words of a text, hashed with signs into 32 buckets (Weinberger et al. 2009) and brought to length 1. */
export function hashedWords(text: string): readonly number[] {
  const words = zeros(wordBuckets)
  for (const word of wordsIn(text)) {
    const hash = seedOf(word)
    const bucket = hash % wordBuckets
    words[bucket] = (words[bucket] ?? 0) + (Math.floor(hash / wordBuckets) % 2 === 0 ? 1 : -1)
  }
  const length = Math.hypot(...words) || 1
  return words.map((value) => value / length)
}
