const scale = 32_767

/** A vector as it is stored, to compare in full: two bytes a number in the order of the machine, the largest 32,767. */
export function stored(vector: Float32Array): Int16Array {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  return Int16Array.from(vector, (value) => Math.round((value / largest) * scale))
}

/** Bytes of one stored vector. */
export const storedBytes = (dimensions: number): number => dimensions * Int16Array.BYTES_PER_ELEMENT

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
