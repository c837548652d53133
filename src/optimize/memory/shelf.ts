import { type VectorSearch, vectorSearch } from '../../agent/index.ts'
import { dot } from '../../core/index.ts'

/** Vectors that were put since the search was made are compared one by one: up to so many, or to a share of all. */
const [mostLoose, looseShare] = [512, 1 / 16]
/** The nearest that a query gets, at most. */
const mostFound = 256

/**
 * Vectors by name that come and go, and what finds the nearest of them: the search of a recall, made anew now and then. From
 * 8,192 vectors on it is by sketches, whose cost grows with them much slower than that of comparing with each.
 */
export class Shelf {
  readonly #vectors = new Map<string, Float32Array>()
  /** Those that the search does not know. */
  readonly #loose = new Set<string>()
  #names: readonly string[] = []
  #rows: ReadonlyMap<string, number> = new Map()
  /** Rows of the search, as bytes: 1 where what stood there has gone or changed. */
  #gone = new Uint8Array()
  #search: VectorSearch | null = null

  put(name: string, vector: Float32Array): void {
    if (this.#vectors.get(name) === vector) return
    this.#vectors.set(name, vector)
    this.#loose.add(name)
    this.#leave(name)
  }

  remove(name: string): void {
    this.#vectors.delete(name)
    this.#loose.delete(name)
    this.#leave(name)
  }

  /** Names of vectors whose cosine is at least `least`, with it; 256 at most, the nearest. */
  async near(query: Float32Array, least: number): Promise<readonly { name: string; similarity: number }[]> {
    if (this.#loose.size > Math.max(mostLoose, looseShare * this.#names.length)) await this.#remake()
    const found: { name: string; similarity: number }[] = []
    for (const { row, similarity } of this.#search?.search(query, mostFound, least, this.#isThere) ?? []) {
      const name = this.#names[row]
      if (name !== undefined) found.push({ name, similarity })
    }
    for (const name of this.#loose) {
      const vector = this.#vectors.get(name)
      const similarity = vector ? dot(query, vector) : Number.NEGATIVE_INFINITY
      if (similarity >= least) found.push({ name, similarity })
    }
    return found.toSorted((a, b) => b.similarity - a.similarity).slice(0, mostFound)
  }

  readonly #isThere = (row: number): boolean => this.#gone[row] === 0

  #leave(name: string): void {
    const row = this.#rows.get(name)
    if (row !== undefined) this.#gone[row] = 1
  }

  async #remake(): Promise<void> {
    this.#names = [...this.#vectors.keys()]
    this.#rows = new Map(this.#names.map((name, row) => [name, row]))
    this.#gone = new Uint8Array(this.#names.length)
    const vectors = [...this.#vectors.values()]
    // What is put from here on is not in the search.
    this.#loose.clear()
    this.#search = await vectorSearch(vectors)
  }
}
