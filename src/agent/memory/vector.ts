import { bytesOfVector, type Embedder, vectorOfBytes } from '../../core/index.ts'
import { otherDimensions } from './errors.ts'

/** A unit vector as text: a byte a number. */
export const vectorText = (vector: Float32Array): string => Buffer.from(bytesOfVector(vector).buffer).toString('base64')

/** The unit vector that a text holds. */
export const vectorOf = (text: string): Float32Array => vectorOfBytes(new Int8Array(Buffer.from(text, 'base64')))

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
