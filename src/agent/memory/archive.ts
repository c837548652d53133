import { type Embedder, Json, type VectorArchive } from '../../core/index.ts'
import { type ArchiveProgress, buildArchive, type BuiltArchive, openArchive } from '../../store/index.ts'
import { archiveOfSeveral } from './errors.ts'
import type { Found } from './found.ts'
import { MemoryItem } from './item.ts'
import { lexicalEmbedder } from './lexical.ts'

/**
 * Items beside a memory's own: many more than a value holds, found by an index on disk, the same for every Version that
 * recalls from it. What learning finds out about one of them is kept in the memory, by a copy.
 */
export interface MemoryArchive extends Pick<VectorArchive, 'id' | 'embedder' | 'size' | 'close'> {
  /** The nearest items that count, the nearest first. The search is approximate. */
  near(query: Float32Array, count: number, floor: number, counts: (item: MemoryItem) => boolean): readonly Found[]
  get(id: string): MemoryItem | undefined
}

export interface BuildMemoryArchiveOptions {
  /** All of one owner: nobody, or a tenant. What is about a person belongs into the memory itself, where it can be erased. */
  readonly items: Iterable<MemoryItem> | AsyncIterable<MemoryItem>
  /** The memory's own. Default: {@link lexicalEmbedder}. */
  readonly embedder?: Embedder
  /** Threads that join items to the index. Default: one for each core. */
  readonly threads?: number
  /** Is told after each thousand items. */
  readonly onProgress?: (progress: ArchiveProgress) => void
}

/**
 * Builds an archive of items in a folder that is not there yet. It stands there in full, or not at all. Of a million items it
 * takes about half an hour of one core.
 * @returns how many items it has, and how many were left out.
 * @throws MemoryError (`memory/archive-owner`) for items of several owners, or about a person.
 * @throws ArchiveError for a folder that exists or cannot be written, no items, and where usearch is not installed.
 */
export function buildMemoryArchive(
  folder: string,
  { items, embedder = lexicalEmbedder(), ...options }: BuildMemoryArchiveOptions,
): Promise<BuiltArchive> {
  return buildArchive(folder, { ...options, embedder, rows: rowsOf(items) })
}

async function* rowsOf(items: BuildMemoryArchiveOptions['items']) {
  let tenant: string | null | undefined
  for await (const raw of items) {
    const { vector: _, ...item } = MemoryItem.parse(raw)
    if (tenant === undefined) tenant = item.owner.tenant
    if (item.owner.about !== null || item.owner.tenant !== tenant) throw archiveOfSeveral(item.id)
    yield { key: item.id, text: item.cue, value: Json.parse(item) }
  }
}

/** Items that are looked at for each one that is wanted: not all of them count. */
const lookedAt = 8

/**
 * Opens an archive that {@link buildMemoryArchive} built. Open only archives that you trust.
 * @throws ArchiveError where there is none, a file of it was cut, and where usearch is not installed.
 */
export async function openMemoryArchive(folder: string): Promise<MemoryArchive> {
  const rows = await openArchive(folder)
  const get = (id: string) => {
    const value = rows.get(id)
    return value === null ? undefined : MemoryItem.parse(value)
  }
  const { id, embedder, size } = rows
  return {
    id,
    embedder,
    size,
    get,
    near(query, count, floor, counts) {
      const found: Found[] = []
      for (const { value, similarity } of rows.nearest(query, lookedAt * count, floor)) {
        const item = MemoryItem.parse(value)
        if (counts(item)) found.push({ item, similarity })
        if (found.length === count) break
      }
      return found
    },
    close: () => rows.close(),
  }
}
