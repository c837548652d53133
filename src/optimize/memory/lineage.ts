import { type Experience, type MemoryItem, memoryBounds } from '../../agent/index.ts'
import type { Collection } from './collection.ts'
import type { PartContext } from './part.ts'
import { trustOf } from './trust.ts'

/** Where an item would come from that an experience teaches; `null` where that is more than an item may hold. */
export type Lineage = Pick<MemoryItem, 'derivedFrom' | 'owner' | 'trust' | 'source'>

/**
 * Everything that an experience's lesson was made from: its own episode, and whatever the items were made from that were
 * recalled in it. It is as little trusted as the least of them, and belongs to whom they belong.
 */
export function lineageOf(
  experience: Experience,
  { collection, share }: Pick<PartContext, 'collection' | 'share'>,
): Lineage | null {
  const shown = shownIn(experience, collection)
  const inherited = shown.filter(({ owner }) => owner.tenant !== null).flatMap(({ derivedFrom }) => derivedFrom)
  const derivedFrom = [...new Set([...experience.derivedFrom, ...inherited])]
  if (derivedFrom.length > memoryBounds.lineage) return null
  const { source } = experience
  return { derivedFrom, source, trust: trustOf(experience, shown), owner: ownerOf(experience, shown, share) }
}

const shownIn = ({ recalled }: Experience, collection: Collection): readonly MemoryItem[] =>
  recalled.flatMap(({ id, shown }) => (shown ? (collection.get(id) ?? []) : []))

function ownerOf(
  { owner }: Experience,
  shown: readonly MemoryItem[],
  share: PartContext['share'],
): MemoryItem['owner'] {
  const tenant = owner.tenant ?? shown.find((item) => item.owner.tenant !== null)?.owner.tenant ?? null
  return { tenant, about: share === 'subject' ? owner.about : null }
}
