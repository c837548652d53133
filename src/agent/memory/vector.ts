import type { Embedder } from '../../core/index.ts'
import { otherDimensions } from './errors.ts'

/** Most that a signed byte holds. */
const scale = 127

/** A unit vector as text: a byte a number, the largest of them 127. */
export function vectorText(vector: Float32Array): string {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const factor = largest === 0 ? 0 : scale / largest
  return Buffer.from(Int8Array.from(vector, (value) => Math.round(value * factor)).buffer).toString('base64')
}

/** The unit vector that a text holds. */
export function vectorOf(text: string): Float32Array {
  const vector = Float32Array.from(new Int8Array(Buffer.from(text, 'base64')))
  return unit(vector)
}

/** The vector with length 1; all zero stays so. */
export function unit(vector: Float32Array): Float32Array {
  let sum = 0
  for (const value of vector) sum += value * value
  const factor = sum === 0 ? 0 : 1 / Math.sqrt(sum)
  return vector.map((value) => value * factor)
}

/** Of vectors of length 1, the cosine. In four sums: one would wait for each addition before the next. */
export function dot(a: Float32Array, b: Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0]
  const whole = a.length - (a.length % 4)
  for (let i = 0; i < whole; i += 4) {
    s0 += (a[i] ?? 0) * (b[i] ?? 0)
    s1 += (a[i + 1] ?? 0) * (b[i + 1] ?? 0)
    s2 += (a[i + 2] ?? 0) * (b[i + 2] ?? 0)
    s3 += (a[i + 3] ?? 0) * (b[i + 3] ?? 0)
  }
  for (let i = whole; i < a.length; i++) s0 += (a[i] ?? 0) * (b[i] ?? 0)
  return s0 + s1 + s2 + s3
}

/** @throws MemoryError for a vector of another size than the embedder says. */
export async function embedded(embedder: Embedder, texts: readonly string[]): Promise<readonly Float32Array[]> {
  const vectors = await embedder.embed(texts)
  for (const vector of vectors) sized(embedder, vector)
  return vectors
}

/** @throws MemoryError for a vector of another size. */
export function sized({ name, dimensions }: Pick<Embedder, 'name' | 'dimensions'>, vector: Float32Array): Float32Array {
  if (vector.length !== dimensions) throw otherDimensions(name, dimensions, vector.length)
  return vector
}
