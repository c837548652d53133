import type { Embedder, Kind } from '../../core/index.ts'
import type { ParameterDefinition } from '../parameters.ts'
import { archiveIds, type MemoryArchive } from './archive.ts'
import { assertSameEmbedder, badMemory } from './errors.ts'
import { type Experience, experiences } from './experience.ts'
import { lexicalEmbedder } from './lexical.ts'
import type { MemoryItem } from './item.ts'
import { MemoryMade } from './made.ts'
import { MemoryParameter } from './memory-parameter.ts'
import { MemoryValue } from './value.ts'

/** What is remembered of earlier episodes, and recalled in those that resemble them. */
export type MemoryKind = Kind<'memory', MemoryValue, MemoryMade, MemoryParameter, Experience>

/**
 * The Kind `memory`. Items stand in the value itself: a Version is whole, two compare item by item, and an erasure has one
 * place to look. Archived items stand beside it: no erasure has to reach them, and a Version names them by content. Vectors are made when a Version is first recalled from, once a process; those of a costly embedder are kept
 * with their items.
 */
export const memoryKind = (embedder: Embedder, archives: readonly MemoryArchive[] = []): MemoryKind => ({
  kind: 'memory',
  value: MemoryValue,
  made: MemoryMade,
  handle: (bound, recorder) => new MemoryParameter(bound, recorder, embedder, archives),
  deposit: experiences,
})

/** How a memory recalls. */
export interface MemoryOptions {
  /** Items of one recall, 1 to 32. Default 4: more hurt in Memento's ablation (Zhou et al. 2025). */
  readonly recall?: number
  /** Cosine in [-1, 1] below which nothing is recalled. Default 0.35 (MemRL). */
  readonly floor?: number
  /** Trust in [0, 1] below which an item is kept and never recalled. Default 0.25. */
  readonly minTrust?: number
  /**
   * The chance in [0, 0.5] that an item which would be recalled is left out of an episode, so that it shows what each brings.
   * Default 0.05; 0: recalls are deterministic, and nothing is learned of single items from production.
   */
  readonly explore?: number
  /**
   * The chance in [0, 1] that an episode recalls nothing at all. 1 where weights are to do alone what experience made them do
   * (`stripExperience`). Default 0.
   */
  readonly withhold?: number
  /** Default: {@link lexicalEmbedder}. */
  readonly embedder?: Embedder
  /** What it recalls from beside its items. Default: none. */
  readonly archives?: readonly MemoryArchive[]
  /** What Versions recall from that were made with other archives. Default: none. */
  readonly earlierArchives?: readonly MemoryArchive[]
  /** What it begins with, as people wrote it down (`newItem`). Default: nothing. */
  readonly items?: readonly MemoryItem[]
}

/**
 * Declares a memory.
 * @throws MemoryError for a number out of its range, for items above the bounds, and for an archive of another embedder.
 */
export function memory(options: MemoryOptions = {}): ParameterDefinition<MemoryKind> {
  const {
    recall = 4,
    floor = 0.35,
    minTrust = 0.25,
    explore = 0.05,
    withhold = 0,
    embedder = lexicalEmbedder(),
    archives = [],
    earlierArchives = [],
    items = [],
  } = options
  const { name, dimensions } = embedder
  const opened = [...archives, ...earlierArchives]
  for (const archive of opened) assertSameEmbedder(archive.embedder, embedder)
  const value = {
    recall,
    floor,
    minTrust,
    explore,
    ...(withhold !== 0 && { withhold }),
    embedder: { name, dimensions },
    ...(archives.length > 0 && { archives: archiveIds(archives) }),
    items: [...items],
    selector: null,
  }
  const { success, error } = MemoryValue.safeParse(value)
  if (!success) {
    throw badMemory(
      error.issues.map(({ path, message }) => `memory: ${path.map(String).join('.')}: ${message}.`).join(' '),
    )
  }
  return { kind: 'memory', of: memoryKind(embedder, opened), initial: () => value }
}
