import { setImmediate as nextTurn } from 'node:timers/promises'
import { rng } from '../../core/index.ts'

/** Words of 32 bits in one sketch. */
export const wordsOfSketch = 8
const bitsOfSketch = wordsOfSketch * 32

/**
 * The signs of a vector after a fixed random rotation: two that differ by an angle θ differ in a share θ/π of the bits,
 * on average (Charikar 2002). The rotation is signs and a Walsh-Hadamard transform, twice (Ailon and Chazelle 2006).
 */
export function sketchOf(vector: Float32Array): Int32Array {
  const sketch = new Int32Array(wordsOfSketch)
  write(sketch, 0, vector)
  return sketch
}

/** In how many bits each of the sketches differs from one; and how many differ in 0, 1, 2 … of them. */
export function distancesTo(
  sketch: Int32Array,
  sketches: Int32Array,
  distances: Uint16Array,
  counts: Uint32Array,
): void {
  const [q0 = 0, q1 = 0, q2 = 0, q3 = 0, q4 = 0, q5 = 0, q6 = 0, q7 = 0] = sketch
  for (let row = 0, at = 0; row < distances.length; row++, at += wordsOfSketch) {
    // `| 0` says that the sums are integers: without it the loop takes half as long again.
    const a = (fours((sketches[at] ?? 0) ^ q0) + fours((sketches[at + 1] ?? 0) ^ q1)) | 0
    const b = (fours((sketches[at + 2] ?? 0) ^ q2) + fours((sketches[at + 3] ?? 0) ^ q3)) | 0
    const c = (fours((sketches[at + 4] ?? 0) ^ q4) + fours((sketches[at + 5] ?? 0) ^ q5)) | 0
    const d = (fours((sketches[at + 6] ?? 0) ^ q6) + fours((sketches[at + 7] ?? 0) ^ q7)) | 0
    const bytes = (eights(a) + eights(b) + eights(c) + eights(d)) | 0
    const halves = ((bytes & 0x00ff00ff) + ((bytes >>> 8) & 0x00ff00ff)) | 0
    distances[row] = (halves + (halves >>> 16)) & 0xffff
  }
  counts.fill(0)
  for (let row = 0; row < distances.length; row++) {
    const distance = distances[row] ?? 0
    counts[distance] = (counts[distance] ?? 0) + 1
  }
}

/** How many bits are set in each four: at most 4, so that two such sums still fit. */
function fours(word: number): number {
  const twos = (word - ((word >>> 1) & 0x55555555)) | 0
  return ((twos & 0x33333333) + ((twos >>> 2) & 0x33333333)) | 0
}

/** Sums of fours that lie in one byte. */
const eights = (sums: number): number => ((sums & 0x0f0f0f0f) + ((sums >>> 4) & 0x0f0f0f0f)) | 0

/** Vectors between which others are served: some milliseconds. */
const atOnce = 1_024

/** Sketches of many vectors, one after the other. */
export async function sketchesOf(vectors: readonly Float32Array[]): Promise<Int32Array> {
  const sketches = new Int32Array(vectors.length * wordsOfSketch)
  for (const [row, vector] of vectors.entries()) {
    if (row % atOnce === atOnce - 1) await nextTurn()
    write(sketches, row * wordsOfSketch, vector)
  }
  return sketches
}

function write(into: Int32Array, at: number, vector: Float32Array): void {
  const turned = rotated(vector)
  for (let word = 0; word < wordsOfSketch; word++) {
    let signs = 0
    for (let bit = 0; bit < 32; bit++) if ((turned[word * 32 + bit] ?? 0) > 0) signs |= 1 << bit
    into[at + word] = signs
  }
}

/** What it returns is overwritten by the next call. */
function rotated(vector: Float32Array): Float32Array {
  let size = bitsOfSketch
  while (size < vector.length) size *= 2
  const { turned, signs } = roomFor(size)
  turned.fill(0)
  turned.set(vector)
  for (const round of signs) {
    for (let i = 0; i < size; i++) turned[i] = (turned[i] ?? 0) * (round[i] ?? 1)
    transform(turned)
  }
  return turned
}

/** Walsh-Hadamard, in place and without its scale, which changes no sign. */
function transform(values: Float32Array): void {
  for (let half = 1; half < values.length; half *= 2) {
    for (let start = 0; start < values.length; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const a = values[i] ?? 0
        const b = values[i + half] ?? 0
        values[i] = a + b
        values[i + half] = a - b
      }
    }
  }
}

interface Room {
  readonly turned: Float32Array
  readonly signs: readonly Float32Array[]
}
const rooms = new Map<number, Room>()

/** The signs are always the same for a size: sketches of one process compare with those of another. */
function roomFor(size: number): Room {
  const known = rooms.get(size)
  if (known) return known
  const signs = [0, 1].map((round) => {
    const chance = rng('sketch', size, round)
    return Float32Array.from({ length: size }, () => (chance.next() < 0.5 ? -1 : 1))
  })
  const room = { turned: new Float32Array(size), signs }
  rooms.set(size, room)
  return room
}
