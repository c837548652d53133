import { clipped, type Experience, type MemoryItem, tallied } from '../../agent/index.ts'
import type { Collection } from './collection.ts'
import { stateless } from './part.ts'

/**
 * What recalled items were worth: Q ← (1 − α) Q + α r for each that was recalled (MemRL, Zhang et al. 2026), and tallies of
 * what episodes earned with it, and without it where chance left it out. Where an episode did just what one of them says,
 * that one alone is judged: what was recalled beside it and not followed is not to blame.
 * @param textBytes at which texts of cases are cut: who did what such a text begins with did just what it says.
 */
export const itemUtilities = (rate: number, textBytes: number) =>
  stateless('utilities', async ({ collection, outcomes }) => {
    let judged = 0
    for (const { experience, signal } of outcomes) {
      const isBare = experience.recalled.every(({ shown }) => !shown)
      for (const { id, shown } of judgedIn(experience, collection, textBytes)) {
        const item = collection.get(id)
        if (!item) continue
        judged++
        await collection.put(
          shown
            ? { ...item, utility: (1 - rate) * item.utility + rate * signal, with: tallied(item.with, signal) }
            : leftOut(item, signal, isBare),
        )
      }
    }
    return { judged }
  })

/** What was recalled in an episode, or left out by chance, and is judged by it. */
export function judgedIn(
  { done, recalled }: Experience,
  collection: Pick<Collection, 'get'>,
  textBytes: number,
): Experience['recalled'] {
  const did = new Set([done, clipped(done, textBytes)])
  const isFollowed = ({ id, shown }: Experience['recalled'][number]) => {
    const item = shown ? collection.get(id) : undefined
    return item !== undefined && did.has(item.text)
  }
  const followed = new Set(recalled.filter(isFollowed).map(({ id }) => id))
  return recalled.filter(({ id, shown }) => !shown || followed.size === 0 || followed.has(id))
}

/** @param isBare whether the episode was shown nothing at all. */
const leftOut = (item: MemoryItem, signal: number, isBare: boolean): MemoryItem => ({
  ...item,
  without: tallied(item.without, signal),
  ...(isBare && { bare: tallied(item.bare ?? { count: 0, mean: 0 }, signal) }),
})
