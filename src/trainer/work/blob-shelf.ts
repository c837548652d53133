import { BlobHash, sha256 } from '../../core/index.ts'
import type { BlobStorage } from '../../store/index.ts'

/**
 * Blobs by their content, so that equal weights of two models are one file. What was put stays at least until it is let go
 * of: meanwhile the journal may not name it yet.
 */
export class BlobShelf {
  readonly #storage: BlobStorage
  readonly #isNamed: (hash: BlobHash) => boolean
  readonly #held = new Map<BlobHash, number>()
  /** A file must not be removed between the look for it and the answer that it is there. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(storage: BlobStorage, isNamed: (hash: BlobHash) => boolean) {
    this.#storage = storage
    this.#isNamed = isNamed
  }

  get(hash: BlobHash): Promise<Uint8Array> {
    return this.#storage.get(hash)
  }

  /** Resolves when the bytes are on the disk; they are held. */
  put(bytes: Uint8Array): Promise<BlobHash> {
    this.hold([BlobHash.parse(sha256(bytes))])
    return this.#next(() => this.#storage.put(bytes))
  }

  /** Holds what is there; see {@link release}. */
  hold(hashes: readonly BlobHash[]): void {
    for (const hash of hashes) this.#held.set(hash, (this.#held.get(hash) ?? 0) + 1)
  }

  /** Lets go of what was put or held as often as it is told here. */
  release(hashes: readonly BlobHash[]): void {
    for (const hash of hashes) {
      const count = (this.#held.get(hash) ?? 0) - 1
      if (count > 0) this.#held.set(hash, count)
      else this.#held.delete(hash)
    }
  }

  /** Removes those that nobody names or holds. */
  discard(hashes: readonly BlobHash[]): Promise<void> {
    return this.#next(async () => {
      for (const hash of hashes) {
        if (!this.#held.has(hash) && !this.#isNamed(hash)) await this.#storage.remove(hash)
      }
    })
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }
}
