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
export const exactSearch = (vectors: readonly Float32Array[]): VectorSearch => ({
  search: (query, count, floor, counts = every) => {
    const rows: number[] = []
    for (const row of vectors.keys()) if (counts(row)) rows.push(row)
    return nearestOf(query, vectors, rows, count, floor)
  },
})

/**
 * Compares with every vector's sketch first, and in full with those whose sketches are nearest: `refined` of them. The angle
 * between two vectors shows in how many bits their sketches differ (Charikar 2002), so that what is near enough to be
 * recalled is hardly ever missed; `bench/memory.mjs` measures how much is.
 */
export async function sketchedSearch(
  vectors: readonly Float32Array[],
  { refined = 1_024 }: { readonly refined?: number } = {},
): Promise<VectorSearch> {
  const sketches = await sketchesOf(vectors)
  const distances = new Uint16Array(vectors.length)
  const histogram = new Uint32Array(wordsOfSketch * 32 + 1)
  return {
    search(query, count, floor, counts = every) {
      distancesTo(sketchOf(query), sketches, distances, histogram)
      for (const [row, distance] of distances.entries()) {
        if (!counts(row)) histogram[distance] = (histogram[distance] ?? 1) - 1
      }
      const within = radius(histogram, Math.max(refined, count))
      const near: number[] = []
      for (const [row, distance] of distances.entries()) if (distance <= within && counts(row)) near.push(row)
      return nearestOf(query, vectors, near, count, floor)
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

function nearestOf(
  query: Float32Array,
  vectors: readonly Float32Array[],
  rows: Iterable<number>,
  count: number,
  floor: number,
): readonly Near[] {
  const nearest: Near[] = []
  for (const row of rows) {
    const vector = vectors[row]
    if (!vector) continue
    const similarity = dot(query, vector)
    const last = nearest[count - 1]
    if (similarity < floor || (last && similarity <= last.similarity)) continue
    let at = nearest.length
    while (at > 0 && (nearest[at - 1]?.similarity ?? 0) < similarity) at--
    nearest.splice(at, 0, { row, similarity })
    if (nearest.length > count) nearest.pop()
  }
  return nearest
}
