import { type Embedder, Json, parseInput, type Tenant, type VectorArchive } from '../../core/index.ts'
import type { ArchiveProgress, BuiltArchive } from '../../store/index.ts'
import { z } from 'zod'
import { badMemory, noMemoryArchive, notArchivable } from './errors.ts'
import type { Found } from './found.ts'
import { MemoryItem, mostArchives } from './item.ts'
import { lexicalEmbedder } from './lexical.ts'

/**
 * Items beside a memory's own: many more than a value holds, found by an index on disk, the same for every Version that
 * recalls from it. What learning finds out about one of them is kept in the memory.
 */
export interface MemoryArchive extends Pick<VectorArchive, 'id' | 'embedder' | 'size' | 'close'> {
  /** Whose items they are; `null`: nobody's, and so everybody's. */
  readonly tenant: string | null
  /** The nearest items that count, the nearest first. The search is approximate. */
  near(query: Float32Array, count: number, floor: number, counts: (item: MemoryItem) => boolean): readonly Found[]
  get(id: string): MemoryItem | undefined
}

export interface BuildMemoryArchiveOptions {
  /** All of one tenant, or nobody's. What a person's sessions taught stays in the memory itself, where it can be erased. */
  readonly items: Iterable<MemoryItem> | AsyncIterable<MemoryItem>
  /** Whose they are. Default `null`: nobody's. */
  readonly tenant?: Tenant | null
  /** The memory's own. Default: {@link lexicalEmbedder}. */
  readonly embedder?: Embedder
  /** Threads that join items to the index. Default: one for each core. */
  readonly threads?: number
  /** Is told after each thousand items. */
  readonly onProgress?: (progress: ArchiveProgress) => void
}

/**
 * The addresses of archives that one memory recalls from.
 * @throws MemoryError for more than 16, and for one that is given twice.
 */
export function archiveIds(archives: readonly MemoryArchive[]): string[] {
  const ids = archives.map(({ id }) => id)
  if (new Set(ids).size === ids.length && ids.length <= mostArchives) return ids
  throw badMemory(`archives: ${ids.length} are given, ${new Set(ids).size} of them different; at most ${mostArchives}.`)
}

/** What an archive of items says of itself. */
const About = z.strictObject({ holds: z.literal('memory items'), tenant: z.string().nullable() })

/**
 * Builds an archive of items in a folder that is not there yet. It stands there in full, or not at all. A million items take
 * half an hour of a core and more: build it in a program that serves nobody.
 * @returns how many items it has, and how many were left out.
 * @throws InputError for what is no item.
 * @throws MemoryError (`memory/not-archivable`) for an item of another owner, and for one that an erasure may have to reach.
 * @throws ArchiveError for a folder that exists or cannot be written, no items, and where usearch is not installed.
 */
export async function buildMemoryArchive(
  folder: string,
  { items, tenant = null, embedder = lexicalEmbedder(), ...options }: BuildMemoryArchiveOptions,
): Promise<BuiltArchive> {
  const { buildArchive } = await import('../../store/index.ts')
  const about: z.infer<typeof About> = { holds: 'memory items', tenant }
  return buildArchive(folder, { ...options, embedder, about, rows: rowsOf(items, tenant) })
}

async function* rowsOf(items: BuildMemoryArchiveOptions['items'], tenant: string | null) {
  let number = 0
  for await (const raw of items) {
    number++
    const { vector: _, ...item } = parseInput(MemoryItem, raw, `item ${number}`)
    const { owner, derivedFrom } = item
    if (owner.tenant !== tenant) throw notArchivable(number, `belongs to ${owner.tenant ?? 'nobody'}`)
    if (owner.about !== null) throw notArchivable(number, 'is about a person')
    if (tenant !== null && derivedFrom.length > 0) throw notArchivable(number, 'was made from sessions of persons')
    yield { key: item.id, text: item.cue, value: Json.parse(item) }
  }
}

/** Items that are looked at for each one that is wanted: at first, and at most, where few of them count. */
const lookedAt = [8, 128] as const

/**
 * Opens an archive that {@link buildMemoryArchive} built. Open only archives that you trust.
 * @throws MemoryError (`memory/no-archive-of-items`) for an archive of something else.
 * @throws ArchiveError where there is none, a file of it was cut, and where usearch is not installed.
 */
export async function openMemoryArchive(folder: string): Promise<MemoryArchive> {
  const { openArchive } = await import('../../store/index.ts')
  const rows = await openArchive(folder)
  const about = About.safeParse(rows.about)
  if (!about.success) {
    rows.close()
    throw noMemoryArchive(folder)
  }
  const itemIn = (value: Json) => parseInput(MemoryItem, value, `an item of the archive ${folder}`)
  const { id, embedder, size } = rows
  return {
    id,
    tenant: about.data.tenant,
    embedder,
    size,
    get(key) {
      const value = rows.get(key)
      return value === null ? undefined : itemIn(value)
    },
    near(query, count, floor, counts) {
      for (let looked = lookedAt[0] * count; ; looked *= 4) {
        const found: Found[] = []
        let seen = 0
        for (const { value, similarity } of rows.nearest(query, looked, floor)) {
          seen++
          const item = itemIn(value)
          if (counts(item)) found.push({ item, similarity })
          if (found.length === count) return found
        }
        if (seen < looked || looked >= lookedAt[1] * count) return found
      }
    },
    close: () => rows.close(),
  }
}
