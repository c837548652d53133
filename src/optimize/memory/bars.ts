import { doesHarm, looksHarmful, type MemoryItem } from '../../agent/index.ts'
import { anew } from './anew.ts'
import { type MemoryPart, type PartContext, stateless } from './part.ts'
import { judgedIn } from './utilities.ts'

/** How what did harm comes back. */
export interface Bars {
  /** The chance that practice recalls it in an update. */
  readonly retry: number
  /** Milliseconds after which it is judged anew. */
  readonly barFor: number
  /** Bytes at which texts of cases are cut. */
  readonly textBytes: number
}

/**
 * Ways back for items that are recalled no more for the harm that they do: episodes may have failed for other reasons. In
 * practice each is tried in an update now and then, and comes back by a trial that works, never by one that fails less; after a
 * time it is judged anew. What serves tries nothing.
 */
export const bars = ({ retry, barFor, textBytes }: Bars): MemoryPart =>
  stateless('bars', async (context) => {
    const { collection, outcomes, before, at, rng } = context
    const counts = { tried: 0, anew: 0 }
    const worked = workedIn(context, textBytes)
    const wasAway = ({ id }: MemoryItem) => {
      const known = before.get(id)
      return known !== undefined && doesHarm(known)
    }
    collection.tried.clear()
    for (const item of collection.items) {
      const { barred, ...free } = item
      const isAway = looksHarmful(item) || (wasAway(item) && !worked.has(item.id))
      if (!isAway && barred !== undefined) await collection.put(free)
      else if (isAway && barred !== undefined && at - barred >= barFor) {
        await collection.put(anew(item))
        counts.anew++
      } else if (isAway) {
        // Without outcomes no time is known: from time 0 on, every time would be over at once.
        if (barred === undefined && outcomes.length > 0) await collection.put({ ...item, barred: at })
        if (retry === 0 || rng.next() >= retry) continue
        collection.tried.add(item.id)
        counts.tried++
      }
    }
    return counts
  })

/** Items that are judged by an episode that recalled them and went well. */
const workedIn = ({ outcomes, collection }: PartContext, textBytes: number): ReadonlySet<string> =>
  new Set(
    outcomes
      .filter(({ signal }) => signal > 0)
      .flatMap(({ experience }) => judgedIn(experience, collection, textBytes))
      .flatMap(({ id, shown }) => (shown ? [id] : [])),
  )
