import {
  dot,
  embedded,
  type MemoryItem,
  type MemoryValue,
  type Selector,
  vectorOf,
  vectorText,
} from '../../agent/index.ts'
import type { Embedder } from '../../core/index.ts'

/** A memory while it learns: the items of a value, which can be changed. */
export class Collection {
  readonly #frame: Omit<MemoryValue, 'items' | 'selector'>
  readonly #items: Map<string, MemoryItem>
  readonly #vectors = new Map<string, Float32Array>()
  readonly #embedder: Embedder
  selector: Selector | null

  constructor({ items, selector, ...frame }: MemoryValue, embedder: Embedder) {
    this.#frame = frame
    this.#items = new Map(items.map((item) => [item.id, item]))
    this.#embedder = embedder
    this.selector = selector
  }

  get items(): readonly MemoryItem[] {
    return [...this.#items.values()]
  }

  get(id: string): MemoryItem | undefined {
    return this.#items.get(id)
  }

  /** Adds an item, or puts it in the place of the one that has its id. */
  async put(item: MemoryItem): Promise<void> {
    const { vector } = item
    const kept =
      this.#embedder.costly && vector === undefined ? { ...item, vector: vectorText(await this.#vector(item)) } : item
    this.#items.set(item.id, kept)
  }

  remove(id: string): void {
    this.#items.delete(id)
    this.#vectors.delete(id)
  }

  /** Items of the same owner and type whose cues are as near as `least`, the nearest first. */
  async alike(item: MemoryItem, least: number): Promise<readonly MemoryItem[]> {
    const vector = await this.#vector(item)
    const near: { readonly other: MemoryItem; readonly similarity: number }[] = []
    for (const other of this.#items.values()) {
      if (other.id === item.id || other.type !== item.type || !sameOwner(other, item)) continue
      const similarity = other.cue === item.cue ? 1 : dot(vector, await this.#vector(other))
      if (similarity >= least) near.push({ other, similarity })
    }
    return near.toSorted((a, b) => b.similarity - a.similarity).map(({ other }) => other)
  }

  /** @param acting what is left to chance while it learns: at least as much as the memory declares, and withheld as said. */
  value(acting: { readonly explore?: number; readonly withhold?: number | undefined } = {}): MemoryValue {
    const items = this.items.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const { explore: declared, withhold: own, ...frame } = this.#frame
    const withhold = acting.withhold ?? own
    return {
      ...frame,
      explore: Math.max(declared, acting.explore ?? 0),
      ...(withhold !== undefined && { withhold }),
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

const sameOwner = (a: MemoryItem, b: MemoryItem) => a.owner.tenant === b.owner.tenant && a.owner.about === b.owner.about
