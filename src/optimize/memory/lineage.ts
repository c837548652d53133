import { type Experience, type MemoryItem, memoryBounds } from '../../agent/index.ts'
import type { PartContext } from './part.ts'
import { trustOf } from './trust.ts'

/** Where an item would come from that an experience teaches. */
export type Lineage = Pick<MemoryItem, 'derivedFrom' | 'owner' | 'trust' | 'source'>

/**
 * Everything that an experience's lesson was made from: its own episode, and whatever the items were made from that were
 * recalled in it. It is as little trusted as the least of them, and belongs to whom they belong.
 * @returns `null` where that is more than an item may hold, or where what was recalled is not known any more.
 */
export function lineageOf(
  experience: Experience,
  context: Pick<PartContext, 'collection' | 'before' | 'share'>,
): Lineage | null {
  const shown = shownIn(experience, context)
  if (shown === null) return null
  const inherited = shown.filter(({ owner }) => owner.tenant !== null).flatMap(({ derivedFrom }) => derivedFrom)
  const derivedFrom = [...new Set([...experience.derivedFrom, ...inherited])]
  if (derivedFrom.length > memoryBounds.lineage) return null
  const { source } = experience
  return { derivedFrom, source, trust: trustOf(experience, shown), owner: ownerOf(experience, shown, context.share) }
}

/** The items that an experience was shown, also those that went in this step or are recalled no more. */
function shownIn(
  { recalled }: Experience,
  { collection, before }: Pick<PartContext, 'collection' | 'before'>,
): readonly MemoryItem[] | null {
  const items: MemoryItem[] = []
  for (const { id, shown } of recalled) {
    if (!shown) continue
    const item = before.get(id) ?? collection.get(id) ?? collection.inArchives(id)
    if (!item) return null
    items.push(item)
  }
  return items
}

function ownerOf(
  { owner }: Experience,
  shown: readonly MemoryItem[],
  share: PartContext['share'],
): MemoryItem['owner'] {
  const tenant = owner.tenant ?? shown.find((item) => item.owner.tenant !== null)?.owner.tenant ?? null
  return { tenant, about: share === 'subject' ? owner.about : null }
}
