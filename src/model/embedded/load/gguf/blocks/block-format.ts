/**
 * One of ggml's ways to store a row of numbers in few bits: in blocks, each with its own scale. The layouts are those of
 * the GGUF specification; each has a page here, and `blocks.test.ts` pins them to the Python package `gguf`.
 */
export interface BlockFormat {
  /** Under ggml's name, for example `Q4_K`. */
  readonly name: string
  /** Numbers in a block. */
  readonly elements: number
  /** Bytes of a block. */
  readonly bytes: number
  /** Writes the numbers of the block that begins at byte `from` into `values`, from index `at` on. */
  unpack(block: DataView, from: number, values: Float32Array, at: number): void
}
