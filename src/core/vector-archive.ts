import type { Embedder } from './embedder.ts'
import type { Json } from './json.ts'

/** A row of an archive that is near what was asked, and its cosine with that. */
export interface NearRow {
  readonly key: string
  readonly value: Json
  readonly similarity: number
}

/** Many rows that never change, found by their vectors. More than fit into one value. */
export interface VectorArchive {
  /** The address of what it holds, by content: the same rows in the same order, with the same vectors, have one. */
  readonly id: string
  /** What the rows are, as who built it said. */
  readonly about: Json
  /** Who made the vectors. */
  readonly embedder: Pick<Embedder, 'name' | 'dimensions'>
  /** Rows, ≥ 1. */
  readonly size: number
  /**
   * The rows nearest to a vector of length 1, the nearest first, each read when it is come to. The search is approximate: a
   * near row can be missed.
   * @param floor the least cosine that is wanted.
   */
  nearest(vector: Float32Array, count: number, floor: number): Iterable<NearRow>
  /** What a row holds; `null` where there is none of that key. */
  get(key: string): Json | null
  close(): void
}
