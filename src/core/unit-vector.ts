/** The vector with length 1; all zero stays so. */
export function unit(vector: Float32Array): Float32Array {
  let sum = 0
  for (const value of vector) sum += value * value
  const factor = sum === 0 ? 0 : 1 / Math.sqrt(sum)
  return vector.map((value) => value * factor)
}

/**
 * Of vectors of length 1, the cosine. In four sums: one would wait for each addition before the next.
 * @param at where in `b` its vector begins.
 */
export function dot(a: Float32Array, b: Float32Array, at = 0): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0]
  const whole = a.length - (a.length % 4)
  for (let i = 0, j = at; i < whole; i += 4, j += 4) {
    s0 += (a[i] ?? 0) * (b[j] ?? 0)
    s1 += (a[i + 1] ?? 0) * (b[j + 1] ?? 0)
    s2 += (a[i + 2] ?? 0) * (b[j + 2] ?? 0)
    s3 += (a[i + 3] ?? 0) * (b[j + 3] ?? 0)
  }
  for (let i = whole; i < a.length; i++) s0 += (a[i] ?? 0) * (b[at + i] ?? 0)
  return s0 + s1 + s2 + s3
}

/** Most that a signed byte holds. */
const scale = 127

/** A vector's direction in signed bytes: the largest of its numbers is 127. */
export function bytesOfVector(vector: Float32Array): Int8Array {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const factor = largest === 0 ? 0 : scale / largest
  return Int8Array.from(vector, (value) => Math.round(value * factor))
}

/** The vector of length 1 that bytes stand for. */
export const vectorOfBytes = (bytes: Int8Array): Float32Array => unit(Float32Array.from(bytes))
