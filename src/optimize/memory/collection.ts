import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  archiveIds,
  doesHarm,
  embedded,
  type MemoryArchive,
  memoryBounds,
  type MemoryItem,
  type MemoryValue,
  noArchive,
  type Selector,
  vectorOf,
  vectorText,
} from '../../agent/index.ts'
import type { Embedder } from '../../core/index.ts'
import { anew } from './anew.ts'
import { Shelf } from './shelf.ts'

/** A memory while it learns: the items of a value, which can be changed. */
export class Collection {
  readonly #frame: Omit<MemoryValue, 'items' | 'selector' | 'refused'>
  readonly #items: Map<string, MemoryItem>
  readonly #vectors = new Map<string, Float32Array>()
  /** Items of one owner and type, by what they are near to: filled when it is first asked for. */
  readonly #shelves = new Map<string, Shelf>()
  readonly #embedder: Embedder
  readonly #archives: readonly MemoryArchive[]
  /** Archived items that are recalled no more. */
  readonly #refused: Set<string>
  selector: Selector | null
  /** Items that practice recalls although they did harm: as if no episode had recalled them yet. */
  readonly tried: Set<string>

  /**
   * @param archives what the value recalls from beside its items; others than it has are what it recalls from then on.
   * @param tried items that did harm and are tried.
   * @throws MemoryError (`memory/no-archive`) where the value has some and none is given.
   */
  constructor(
    { items, selector, refused = [], archives: before = [], ...frame }: MemoryValue,
    embedder: Embedder,
    archives: readonly MemoryArchive[] = [],
    tried: readonly string[] = [],
  ) {
    const [missing] = archives.length === 0 ? before : []
    if (missing !== undefined) throw noArchive(missing)
    this.#frame = { ...frame, ...(archives.length > 0 && { archives: archiveIds(archives) }) }
    this.#archives = archives
    this.#refused = new Set(refused)
    this.#items = new Map(items.map((item) => [item.id, item]))
    this.#embedder = embedder
    this.selector = selector
    this.tried = new Set(tried)
  }

  get items(): readonly MemoryItem[] {
    return [...this.#items.values()]
  }

  /** An item, also one that is archived only: it is copied when it is put. */
  get(id: string): MemoryItem | undefined {
    return this.#items.get(id) ?? this.archived(id)
  }

  /** An item as an archive has it, unless it is recalled no more. */
  archived(id: string): MemoryItem | undefined {
    return this.#refused.has(id) ? undefined : this.inArchives(id)
  }

  /** An item as an archive has it, also one that is recalled no more. */
  inArchives(id: string): MemoryItem | undefined {
    for (const archive of this.#archives) {
      const item = archive.get(id)
      if (item) return item
    }
    return undefined
  }

  /**
   * Whether an item is remembered already, or is to come back no more. One whose time is over by then, or at the end of the
   * step, is not where this one went well, unless it does harm.
   */
  knows(item: MemoryItem, atEnd: number): boolean {
    if (!this.#items.has(item.id) && this.#refused.has(item.id)) return true
    const known = this.get(item.id)
    const wentWell = item.worked && item.utility > 0
    return known !== undefined && (!isOver(known, item.from, atEnd) || doesHarm(known) || !wentWell)
  }

  /**
   * An item that {@link knows} does not know, as it is to be put. One that was there before comes back with what was found out
   * about it, and as nothing better than what superseded it. What people wrote stays theirs.
   */
  revived(item: MemoryItem): MemoryItem {
    const known = this.get(item.id)
    if (!known) return item
    const { from, derivedFrom, source, trust, expires } = item
    const newer = known.supersededBy === null ? undefined : this.get(known.supersededBy)
    const utility = Math.min(known.utility, newer?.utility ?? known.utility)
    const back = { ...known, from, until: null, supersededBy: null, utility }
    return isPeoples(known) ? back : { ...back, derivedFrom, source, trust, expires }
  }

  /** Adds an item, or puts it in the place of the one that has its id. */
  async put(item: MemoryItem): Promise<void> {
    const { vector } = item
    const kept =
      this.#embedder.costly && vector === undefined ? { ...item, vector: vectorText(await this.#vector(item)) } : item
    this.#items.set(item.id, kept)
    // As it will be read again: what goes on from a checkpoint compares the same.
    if (kept.vector !== undefined) this.#vectors.set(kept.id, vectorOf(kept.vector))
    this.#shelves.get(shelfOf(kept))?.put(kept.id, await this.#vector(kept))
  }

  /** Takes an item away. Of one that is archived, what was found out is forgotten. */
  forget(id: string): void {
    const item = this.#items.get(id)
    if (item) this.#shelves.get(shelfOf(item))?.remove(id)
    this.#items.delete(id)
    this.#vectors.delete(id)
  }

  /**
   * Takes an item away to make room. One that is archived and does harm, or was superseded, is recalled no more: the archived
   * item would come back. So many as a memory may have items; of more, what was found out is forgotten.
   */
  drop(item: MemoryItem): void {
    this.forget(item.id)
    if (isSpent(item) && this.#refused.size < memoryBounds.items && this.inArchives(item.id)) this.#refused.add(item.id)
  }

  /** Items of the same owner and type whose cues are as near as `least`, the nearest first; 256 at most, and none that is archived only. */
  async alike(item: MemoryItem, least: number): Promise<readonly MemoryItem[]> {
    const shelf = await this.#shelf(item)
    const near = await shelf.near(await this.#vector(item), Math.min(least, same))
    return near.flatMap(({ name }) => (name === item.id ? [] : (this.#items.get(name) ?? [])))
  }

  async #shelf(like: MemoryItem): Promise<Shelf> {
    const key = shelfOf(like)
    const known = this.#shelves.get(key)
    if (known) return known
    const shelf = new Shelf()
    for (const [i, item] of [...this.#items.values()].filter((one) => shelfOf(one) === key).entries()) {
      shelf.put(item.id, await this.#vector(item))
      // Between some of them others are served.
      if (i % atOnce === atOnce - 1) await nextTurn()
    }
    this.#shelves.set(key, shelf)
    return shelf
  }

  /**
   * @param acting what is left to chance while it learns: at least as much as the memory declares, and withheld as said. What is
   *   tried is tried then alone.
   */
  value(acting?: { readonly explore: number; readonly withhold: number | undefined }): MemoryValue {
    const items = this.items.toSorted(byId).map((item) => (acting && this.tried.has(item.id) ? anew(item) : item))
    const { explore: declared, withhold: own, ...frame } = this.#frame
    const withhold = acting?.withhold ?? own
    return {
      ...frame,
      explore: Math.max(declared, acting?.explore ?? 0),
      ...(withhold !== undefined && { withhold }),
      ...(this.#refused.size > 0 && { refused: [...this.#refused].toSorted() }),
      items,
      selector: this.selector,
    }
  }

  async #vector(item: MemoryItem): Promise<Float32Array> {
    const known = this.#vectors.get(item.id)
    if (known) return known
    const vector = item.vector === undefined ? await this.#embedded(item.cue) : vectorOf(item.vector)
    this.#vectors.set(item.id, vector)
    return vector
  }

  async #embedded(cue: string): Promise<Float32Array> {
    const [vector = new Float32Array()] = await embedded(this.#embedder, [cue])
    return vector
  }
}

/** Whether an item is not to be recalled any more: a newer one says otherwise, or it does harm. */
export const isSpent = (item: MemoryItem): boolean => item.supersededBy !== null || doesHarm(item)

/** Whether people wrote an item: it comes from no episode. */
const isPeoples = ({ derivedFrom }: MemoryItem): boolean => derivedFrom.length === 0

/** Whether an item holds no more at a moment, or is forgotten at a later one. */
const isOver = ({ until, expires }: MemoryItem, at: number, later: number): boolean =>
  (until !== null && until <= at) || (expires !== null && expires <= later)

/** The order of a value's items. It decides where nothing else does, so that what goes on from a checkpoint decides the same. */
export const byId = (a: MemoryItem, b: MemoryItem): number => (a.id < b.id ? -1 : 1)

const atOnce = 128
/** Cosine of a vector with itself, at the least: it is rounded. */
const same = 1 - 1e-6

const shelfOf = ({ type, owner }: MemoryItem): string => JSON.stringify([type, owner.tenant, owner.about])
