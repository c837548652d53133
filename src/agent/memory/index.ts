export {
  archiveIds,
  buildMemoryArchive,
  type BuildMemoryArchiveOptions,
  type MemoryArchive,
  openMemoryArchive,
} from './archive.ts'
export { prepareMemory } from './bank.ts'
export { assertSameEmbedder, MemoryError, noArchive } from './errors.ts'
export type { Deed, Experience } from './experience.ts'
export { clipped, memoryQuery } from './clipped.ts'
export { holdsAt, memoryBounds, MemoryItem, newItem, type NewItem, Tally, tallied } from './item.ts'
export { lexicalEmbedder } from './lexical.ts'
export { MemoryMade, type RecalledItem } from './made.ts'
export { memory, type MemoryKind, memoryKind, type MemoryOptions } from './memory-kind.ts'
export { MemoryParameter, type Recollection } from './memory-parameter.ts'
export { chanceBy, doesHarm, featureCount, features, helpfulness, looksHarmful } from './rank.ts'
export { exactSearch, type Near, sketchedSearch, type VectorSearch, vectorSearch } from './search.ts'
export { MemoryValue, Selector } from './value.ts'
export { embedded, vectorOf, vectorText } from './vector.ts'
