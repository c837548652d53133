import { clipped, holdsAt, type MemoryItem, newItem } from '../../agent/index.ts'
import { byId } from './collection.ts'
import { lineageOf } from './lineage.ts'
import { expiryOf, type MemoryPart, type Outcome, type PartContext, stateless } from './part.ts'
import { addressesTheModel, trustIn } from './trust.ts'

/** How cases are written. */
export interface WriteCases {
  /** Write down what did not work as well. */
  readonly failures: boolean
  /** Bytes of one case's text, at most. */
  readonly textBytes: number
  /** Cosine from which two cues ask the same. */
  readonly alike: number
}

/** What the first episode says of a case: what is proven outranks what is new. */
const firstSays = 0.5
/** How much better a newer case must have gone than an older one's utility to say otherwise. */
const clearly = 0.25
/** Cases of one owner that answer the same, at most. */
const mostAlike = 3

/**
 * Writes down what was done about what, where it worked. A newer case supersedes one that answers the same otherwise and no
 * longer does well: both stay, and only the newer one holds from then on. What was superseded, or is to be forgotten, holds
 * again from when it works again, with the utility that it had.
 */
export const writeCases = (options: WriteCases): MemoryPart =>
  stateless('cases', async (context) => {
    const counts = { written: 0, screened: 0, superseded: 0, noLineage: 0 }
    for (const outcome of context.outcomes) {
      const item = caseOf(outcome, context, options)
      if (item === null) continue
      if (item === 'screened' || item === 'noLineage') {
        counts[item]++
        continue
      }
      if (context.collection.knows(item, context.at)) continue
      const back = context.collection.revived(item)
      // It takes the place of nothing that is trusted more than its episode.
      const trust = Math.min(back.trust, item.trust)
      counts.superseded += await settle({ ...back, trust }, context, options.alike)
      await context.collection.put(back)
      counts.written++
    }
    return counts
  })

function caseOf(
  { experience, signal, example }: Outcome,
  context: PartContext,
  { failures, textBytes }: WriteCases,
): MemoryItem | 'screened' | 'noLineage' | null {
  const { cue, done, at } = experience
  if (example === null || (example === 'failed' && !failures) || cue.trim() === '' || done.trim() === '') return null
  const whole = `${cue}\n${done}`
  if (addressesTheModel(whole)) return 'screened'
  const lineage = lineageOf(experience, context)
  if (lineage === null) return 'noLineage'
  return newItem({
    ...lineage,
    trust: trustIn(whole, lineage.trust),
    type: 'case',
    cue,
    text: clipped(done, textBytes),
    worked: example === 'worked',
    from: at,
    expires: expiryOf(at, context),
    utility: firstSays * signal,
  })
}

/** Makes room for a new case among those that answer the same. @returns how many it supersedes. */
async function settle(item: MemoryItem, { collection }: PartContext, alike: number): Promise<number> {
  const same = (await collection.alike(item, alike)).filter(
    (other) =>
      other.supersededBy === null &&
      holdsAt(other, item.from) &&
      other.worked === item.worked &&
      // What is trusted less takes no place of what is trusted more, whatever its episode earned.
      other.trust <= item.trust,
  )
  const contradicted = same.filter(({ utility }) => utility < item.utility - clearly)
  for (const other of contradicted) await collection.put({ ...other, until: item.from, supersededBy: item.id })
  const kept = same
    .filter((other) => !contradicted.includes(other))
    .toSorted((a, b) => b.utility - a.utility || byId(a, b))
  for (const other of kept.slice(mostAlike - 1)) collection.drop(other)
  return contradicted.length
}
