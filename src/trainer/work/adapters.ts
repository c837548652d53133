import type { AdapterRef, BlobHash, ModelService } from '../../core/index.ts'

/** Adapters that are loaded for sampling, by the blob of their weights: the ones used last, at most so many. */
export class Adapters {
  readonly #service: Pick<ModelService, 'loadAdapter' | 'sampler'>
  readonly #blob: (hash: BlobHash) => Promise<Uint8Array>
  readonly #most: number
  readonly #loaded = new Map<BlobHash, Promise<AdapterRef>>()

  constructor(
    service: Pick<ModelService, 'loadAdapter' | 'sampler'>,
    blob: (hash: BlobHash) => Promise<Uint8Array>,
    most: number,
  ) {
    this.#service = service
    this.#blob = blob
    this.#most = most
  }

  /** The reference to weights; requests made at once with it end whatever is unloaded meanwhile. */
  async get(hash: BlobHash): Promise<AdapterRef> {
    const ready = this.#loaded.get(hash) ?? this.#blob(hash).then((bytes) => this.#service.loadAdapter(bytes))
    this.#loaded.delete(hash)
    this.#loaded.set(hash, ready)
    ready.catch(() => this.#loaded.delete(hash))
    for (const [oldest, ref] of this.#loaded) {
      if (this.#loaded.size <= this.#most) break
      this.#loaded.delete(oldest)
      void ref.then(
        (adapter) => this.#service.sampler.unload(adapter).catch(() => {}),
        () => {},
      )
    }
    return ready
  }
}
