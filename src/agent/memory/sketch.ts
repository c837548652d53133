import { rng } from '../../core/index.ts'

/** Words of 32 bits in one sketch. */
export const wordsOfSketch = 8
const bitsOfSketch = wordsOfSketch * 32

/**
 * The signs of a vector after a fixed random rotation: two that differ by an angle θ differ in a share θ/π of the bits,
 * on average (Charikar 2002). The rotation is signs and a Walsh-Hadamard transform, twice (Ailon and Chazelle 2006).
 */
export function sketchOf(vector: Float32Array): Uint32Array {
  const sketch = new Uint32Array(wordsOfSketch)
  write(sketch, 0, vector)
  return sketch
}

/** Sketches of many vectors, one after the other. */
export function sketchesOf(vectors: readonly Float32Array[]): Uint32Array {
  const sketches = new Uint32Array(vectors.length * wordsOfSketch)
  for (const [row, vector] of vectors.entries()) write(sketches, row * wordsOfSketch, vector)
  return sketches
}

function write(into: Uint32Array, at: number, vector: Float32Array): void {
  const turned = rotated(vector)
  for (let bit = 0; bit < bitsOfSketch; bit++) {
    if ((turned[bit] ?? 0) > 0) into[at + (bit >>> 5)] = (into[at + (bit >>> 5)] ?? 0) | (1 << (bit & 31))
  }
}

function rotated(vector: Float32Array): Float32Array {
  let size = bitsOfSketch
  while (size < vector.length) size *= 2
  const turned = new Float32Array(size)
  turned.set(vector)
  for (const round of [0, 1]) {
    const signs = signsOf(size, round)
    for (let i = 0; i < size; i++) turned[i] = (turned[i] ?? 0) * (signs[i] ?? 1)
    transform(turned)
  }
  return turned
}

/** Walsh-Hadamard, in place and without its scale, which changes no sign. */
function transform(values: Float32Array): void {
  for (let half = 1; half < values.length; half *= 2) {
    for (let start = 0; start < values.length; start += 2 * half) {
      for (let i = start; i < start + half; i++) {
        const [a, b] = [values[i] ?? 0, values[i + half] ?? 0]
        values[i] = a + b
        values[i + half] = a - b
      }
    }
  }
}

const drawn = new Map<string, Float32Array>()

/** Always the same for a size: sketches of one process compare with those of another. */
function signsOf(size: number, round: number): Float32Array {
  const key = `${size} ${round}`
  const known = drawn.get(key)
  if (known) return known
  const chance = rng('sketch', size, round)
  const signs = Float32Array.from({ length: size }, () => (chance.next() < 0.5 ? -1 : 1))
  drawn.set(key, signs)
  return signs
}
