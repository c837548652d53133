import { doesHarm } from '../../agent/index.ts'
import { anew } from './anew.ts'
import { type MemoryPart, stateless } from './part.ts'

/** How what did harm comes back. */
export interface Bars {
  /** The chance that practice recalls it in an update. */
  readonly retry: number
  /** Milliseconds after which it is judged anew. */
  readonly barFor: number
}

/**
 * Ways back for items that are recalled no more for the harm that they do: episodes may have failed for other reasons. In
 * practice each is tried in an update now and then, and comes back where that works; after a time it is judged anew. What serves
 * tries nothing.
 */
export const bars = ({ retry, barFor }: Bars): MemoryPart =>
  stateless('bars', async ({ collection, at, rng }) => {
    const counts = { tried: 0, anew: 0 }
    collection.tried.clear()
    for (const item of collection.items) {
      const harmful = doesHarm(item)
      const { barred, ...free } = item
      if (!harmful && barred !== undefined) await collection.put(free)
      else if (harmful && barred !== undefined && at - barred >= barFor) {
        await collection.put(anew(item))
        counts.anew++
      } else if (harmful) {
        if (barred === undefined) await collection.put({ ...item, barred: at })
        if (retry === 0 || rng.next() >= retry) continue
        collection.tried.add(item.id)
        counts.tried++
      }
    }
    return counts
  })
