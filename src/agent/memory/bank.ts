import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Audience, type Embedder, subjectMark } from '../../core/index.ts'
import type { MemoryArchive } from './archive.ts'
import { assertSameEmbedder } from './errors.ts'
import type { Found } from './found.ts'
import { holdsAt, type MemoryItem } from './item.ts'
import { type VectorSearch, vectorSearch } from './search.ts'
import type { MemoryValue } from './value.ts'
import { embedded, sized, vectorOf } from './vector.ts'

/** Items of one owner, with what finds them. */
interface Shelf {
  readonly items: readonly MemoryItem[]
  readonly search: VectorSearch
}

/**
 * A memory's items as they are searched: those of each owner by themselves, so that a search for one cannot come upon
 * another's, however near it is.
 */
export class Bank {
  readonly #shelves: ReadonlyMap<string, Shelf>
  /** All items that the value has or refuses, by their ids. */
  readonly #known: ReadonlySet<string>
  readonly #minTrust: number

  private constructor(shelves: ReadonlyMap<string, Shelf>, { items, refused = [], minTrust }: MemoryValue) {
    this.#shelves = shelves
    this.#known = new Set([...items.map(({ id }) => id), ...refused])
    this.#minTrust = minTrust
  }

  /** The same for the same value: it is made once. @throws MemoryError for a value made with another embedder. */
  static of(value: MemoryValue, embedder: Embedder): Promise<Bank> {
    const made = banks.get(value)
    if (made?.embedder === embedder) return made.bank
    const bank = Bank.#make(value, embedder)
    banks.set(value, { embedder, bank })
    // What could not be made may be made the next time: a model that was not there yet.
    bank.catch(() => banks.delete(value))
    return bank
  }

  static async #make(value: MemoryValue, embedder: Embedder): Promise<Bank> {
    assertSameEmbedder(value.embedder, embedder)
    const byOwner = new Map<string, MemoryItem[]>()
    for (const item of value.items) {
      if (!isRecalled(item, value.minTrust)) continue
      const key = keyOf(item.owner)
      const known = byOwner.get(key)
      if (known) known.push(item)
      else byOwner.set(key, [item])
    }
    const shelves = new Map<string, Shelf>()
    for (const [key, items] of byOwner) {
      shelves.set(key, { items, search: await vectorSearch(await vectorsOf(items, embedder)) })
    }
    return new Bank(shelves, value)
  }

  /** Items that are near enough, that hold at the moment, and that the audience may see; the nearest first. */
  near(query: Float32Array, count: number, floor: number, { tenant, subject, at }: Audience): readonly Found[] {
    const found: Found[] = []
    for (const key of visibleTo(tenant, subject)) {
      const shelf = this.#shelves.get(key)
      if (!shelf) continue
      const { items, search } = shelf
      const holds = (row: number) => items[row] !== undefined && holdsAt(items[row], at)
      for (const { row, similarity } of search.search(query, count, floor, holds)) {
        const item = items[row]
        if (item) found.push({ item, similarity })
      }
    }
    return found.toSorted((a, b) => b.similarity - a.similarity).slice(0, count)
  }

  /** The same of an archive, but for items that the value has itself, or refuses. */
  archived(
    archive: MemoryArchive,
    query: Float32Array,
    count: number,
    floor: number,
    { tenant, at }: Audience,
  ): readonly Found[] {
    if (archive.tenant !== null && archive.tenant !== tenant) return []
    const counts = (item: MemoryItem) =>
      !this.#known.has(item.id) && isRecalled(item, this.#minTrust) && holdsAt(item, at)
    return archive.near(query, count, floor, counts)
  }
}

/**
 * Makes what a memory is searched by, once for a value: of a hundred thousand items that takes seconds, which the first recall
 * would wait for.
 * @throws MemoryError for a value made with another embedder.
 */
export async function prepareMemory(value: MemoryValue, embedder: Embedder): Promise<void> {
  await Bank.of(value, embedder)
}

const banks = new WeakMap<MemoryValue, { readonly embedder: Embedder; readonly bank: Promise<Bank> }>()

const isRecalled = ({ trust, supersededBy }: MemoryItem, minTrust: number) => trust >= minTrust && supersededBy === null

const keyOf = ({ tenant, about }: MemoryItem['owner']) => JSON.stringify([tenant, about])

/** What is nobody's, what is the tenant's, and what is the person's own. */
const visibleTo = (tenant: string, subject: string | null): readonly string[] => [
  keyOf({ tenant: null, about: null }),
  keyOf({ tenant, about: null }),
  ...(subject === null ? [] : [keyOf({ tenant, about: subjectMark(tenant, subject) })]),
]

/** Texts between which others are served: some milliseconds. */
const atOnce = 128

async function vectorsOf(items: readonly MemoryItem[], embedder: Embedder): Promise<readonly Float32Array[]> {
  const missing = items.filter(({ vector }) => vector === undefined)
  const ofItem = new Map<MemoryItem, Float32Array>()
  for (let start = 0; start < missing.length; start += atOnce) {
    const some = missing.slice(start, start + atOnce)
    const made = await embedded(
      embedder,
      some.map(({ cue }) => cue),
    )
    for (const [i, vector] of made.entries()) {
      const item = some[i]
      if (item) ofItem.set(item, vector)
    }
    await nextTurn()
  }
  return items.map((item) => {
    const vector = item.vector === undefined ? ofItem.get(item) : vectorOf(item.vector)
    return sized(embedder, vector ?? new Float32Array())
  })
}
