import { doesHarm, type MemoryItem } from '../../agent/index.ts'
import { byId, isSpent } from './collection.ts'
import { type MemoryPart, stateless } from './part.ts'

/** What is kept. */
export interface Prune {
  /** Items at most. */
  readonly capacity: number
  /** What a thousand tokens in the prompt must bring, in the unit of utilities. */
  readonly tokenPrice: number
}

/**
 * What an item is worth beyond its rent: what it brought where chance left it out now and then, else its utility, less what
 * its tokens cost.
 */
export function worthOf(
  { utility, with: shown, without, rent }: Pick<MemoryItem, 'utility' | 'with' | 'without' | 'rent'>,
  tokenPrice: number,
): number {
  const measured = shown.count >= enough && without.count >= enough
  return (measured ? shown.mean - without.mean : utility) - (tokenPrice * rent.tokens) / 1_000
}

const enough = 5

/**
 * Drops what expired, and beyond the capacity what is worth the least; what is superseded or does harm goes first. As long as
 * there is room it stays, and is not recalled: what is forgotten would come back by the next who says it. So what goes and is
 * archived is refused from then on.
 */
export const prune = ({ capacity, tokenPrice }: Prune): MemoryPart =>
  stateless('prune', async ({ collection, at }) => {
    const counts = { expired: 0, harmful: 0, evicted: 0 }
    for (const item of collection.items) {
      if (item.expires !== null && item.expires <= at) {
        collection.forget(item.id)
        counts.expired++
      } else if (doesHarm(item)) counts.harmful++
    }
    const inOrder = collection.items.toSorted(
      (a, b) => rankOf(a) - rankOf(b) || worthOf(b, tokenPrice) - worthOf(a, tokenPrice) || byId(a, b),
    )
    for (const item of inOrder.slice(capacity)) {
      collection.drop(item)
      counts.evicted++
    }
    return counts
  })

const rankOf = (item: MemoryItem) => (isSpent(item) ? 1 : 0)
