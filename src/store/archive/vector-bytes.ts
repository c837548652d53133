import { bytesOfVector } from '../../core/index.ts'

/** A vector as the index has it: a byte a number is enough to find what may be near. */
export const indexed = (vector: Float32Array): Int8Array => bytesOfVector(vector)

const scale = 32_767

/** A vector as it is stored, to compare in full: two bytes a number in the order of the machine, the largest 32,767. */
export function stored(vector: Float32Array): Int16Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Int16Array.from(vector, (value) => Math.round((value / largest) * scale))
}

/** The cosine of a vector of length 1 with a stored one. */
export function cosineWith(vector: Float32Array, other: Int16Array): number {
  let [product, square] = [0, 0]
  for (let i = 0; i < other.length; i++) {
    const number = other[i] ?? 0
    product += (vector[i] ?? 0) * number
    square += number * number
  }
  return product / Math.sqrt(square)
}
