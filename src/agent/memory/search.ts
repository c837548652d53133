import { dot } from '../../core/index.ts'
import { distancesTo, sketchesOf, sketchOf, wordsOfSketch } from './sketch.ts'

/** A row of what was searched, and its cosine with what was asked. */
export interface Near {
  readonly row: number
  readonly similarity: number
}

/** Finds the nearest of many unit vectors. */
export interface VectorSearch {
  /**
   * The `count` nearest whose cosine is at least `floor`, the nearest first; of equals, the first row.
   * @param counts whether a row may be found: others take no place among the `count`.
   */
  search(query: Float32Array, count: number, floor: number, counts?: (row: number) => boolean): readonly Near[]
}

/** Above so many, comparing with each in full takes longer than a request should wait. */
const sketchedFrom = 8_192

/** The faster search for as many vectors as there are. */
export const vectorSearch = async (vectors: readonly Float32Array[]): Promise<VectorSearch> =>
  vectors.length < sketchedFrom ? exactSearch(vectors) : sketchedSearch(vectors)

const every = () => true

/** Compares with every vector. */
export function exactSearch(vectors: readonly Float32Array[]): VectorSearch {
  const rows = new Rows(vectors)
  return {
    search: (query, count, floor, counts = every) => {
      const counting: number[] = []
      for (let row = 0; row < rows.count; row++) if (counts(row)) counting.push(row)
      return rows.nearest(query, counting, count, floor)
    },
  }
}

/**
 * Compares with every vector's sketch first, and in full with those whose sketches are nearest: `refined` of them, or half as
 * many where others do not count. The angle between two vectors shows in how many bits their sketches differ (Charikar
 * 2002), so that what is near enough to be recalled is hardly ever missed; `bench/memory.mjs` measures how much is.
 */
export async function sketchedSearch(
  vectors: readonly Float32Array[],
  { refined = 1_024 }: { readonly refined?: number } = {},
): Promise<VectorSearch> {
  const sketches = await sketchesOf(vectors)
  const rows = new Rows(vectors)
  const distances = new Uint16Array(rows.count)
  const histogram = new Uint32Array(wordsOfSketch * 32 + 1)
  return {
    search(query, count, floor, counts = every) {
      distancesTo(sketchOf(query), sketches, distances, histogram)
      const least = Math.max(count, refined / 2)
      // Whether a row counts is asked of those that are near: of all of them it would take longer than their distances.
      for (let wanted = Math.max(count, refined); ; wanted *= 4) {
        const near = within(distances, radius(histogram, wanted)).filter((row) => counts(row))
        if (near.length >= least || wanted >= rows.count) return rows.nearest(query, near, count, floor)
      }
    },
  }
}

/** The smallest distance within which there are at least `wanted`. */
function radius(counts: Uint32Array, wanted: number): number {
  let seen = 0
  for (let distance = 0; distance < counts.length; distance++) {
    seen += counts[distance] ?? 0
    if (seen >= wanted) return distance
  }
  return counts.length
}

function within(distances: Uint16Array, most: number): readonly number[] {
  const rows: number[] = []
  // By index: an iterator takes seven times as long.
  for (let row = 0; row < distances.length; row++) if ((distances[row] ?? 0) <= most) rows.push(row)
  return rows
}

/** Vectors of one size, one behind the other. */
class Rows {
  readonly count: number
  readonly #size: number
  readonly #numbers: Float32Array

  constructor(vectors: readonly Float32Array[]) {
    this.count = vectors.length
    this.#size = vectors[0]?.length ?? 0
    this.#numbers = new Float32Array(this.count * this.#size)
    for (const [row, vector] of vectors.entries()) this.#numbers.set(vector, row * this.#size)
  }

  nearest(query: Float32Array, rows: readonly number[], count: number, floor: number): readonly Near[] {
    const nearest: Near[] = []
    for (const row of rows) {
      const similarity = dot(query, this.#numbers, row * this.#size)
      const last = nearest[count - 1]
      if (similarity < floor || (last && similarity <= last.similarity)) continue
      let at = nearest.length
      while (at > 0 && (nearest[at - 1]?.similarity ?? 0) < similarity) at--
      nearest.splice(at, 0, { row, similarity })
      if (nearest.length > count) nearest.pop()
    }
    return nearest
  }
}
