/** Small pieces are copied together into blocks of this many bytes. */
const blockBytes = 64 * 1024
/** Pieces of at least so many bytes are kept as they are. */
const largeBytes = 4 * 1024

/** Bytes that come in pieces. What is held takes about as much memory as the bytes, however small the pieces are. */
export class GatheredBytes {
  readonly #done: Uint8Array[] = []
  #block: Buffer | null = null
  #filled = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    this.#length += piece.length
    if (piece.length >= largeBytes) {
      this.#close()
      this.#done.push(piece)
      return
    }
    if (this.#filled + piece.length > blockBytes) this.#close()
    this.#block ??= Buffer.allocUnsafeSlow(blockBytes)
    this.#block.set(piece, this.#filled)
    this.#filled += piece.length
  }

  whole(): Buffer {
    this.#close()
    return Buffer.concat(this.#done, this.#length)
  }

  #close(): void {
    if (this.#block !== null) this.#done.push(this.#block.subarray(0, this.#filled))
    this.#block = null
    this.#filled = 0
  }
}
