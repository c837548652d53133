/** How much one request of a pass may hold. */
export interface ChunkLimits {
  readonly maxChunkBytes: number
  readonly maxChunkData: number
}

/** JSON spells a token in up to 7 characters, and a float in about 20. */
const bytesPerPosition = 80

/**
 * Cuts data into runs that one request each can carry, in order; a run holds at least one. A gradient adds up over the
 * requests of a pass until the optimizer step, so the cut changes nothing.
 */
export function chunked<T extends { readonly input: readonly unknown[] }>(
  data: readonly T[],
  { maxChunkBytes, maxChunkData }: ChunkLimits,
): readonly (readonly T[])[] {
  const chunks: T[][] = []
  let bytes = 0
  for (const datum of data) {
    const size = datum.input.length * bytesPerPosition
    const chunk = chunks.at(-1)
    if (chunk === undefined || chunk.length >= maxChunkData || bytes + size > maxChunkBytes) {
      chunks.push([datum])
      bytes = size
    } else {
      chunk.push(datum)
      bytes += size
    }
  }
  return chunks
}
