import type { AdapterRef, BlobHash, ModelService } from '../../core/index.ts'

/** An adapter, and how many requests load it or sample from it. */
interface Held {
  readonly ready: Promise<AdapterRef>
  users: number
}

/**
 * Adapters that are loaded for sampling, by the blob of their weights: the ones used last, at most so many. More are loaded
 * only while more are in use at once.
 */
export class Adapters {
  readonly #service: Pick<ModelService, 'loadAdapter' | 'sampler'>
  readonly #blob: (hash: BlobHash) => Promise<Uint8Array>
  readonly #most: number
  readonly #held = new Map<BlobHash, Held>()

  constructor(
    service: Pick<ModelService, 'loadAdapter' | 'sampler'>,
    blob: (hash: BlobHash) => Promise<Uint8Array>,
    most: number,
  ) {
    this.#service = service
    this.#blob = blob
    this.#most = most
  }

  /** Does work with the adapter of weights, which stays loaded until the work has ended. */
  async use<T>(hash: BlobHash, work: (adapter: AdapterRef) => Promise<T>): Promise<T> {
    const held = this.#held.get(hash) ?? { ready: this.#load(hash), users: 0 }
    held.users++
    this.#held.delete(hash)
    this.#held.set(hash, held)
    this.#unloadIdle()
    try {
      return await work(await held.ready)
    } catch (error) {
      // What could not be loaded is tried again by the next.
      await held.ready.catch(() => this.#held.get(hash) === held && this.#held.delete(hash))
      throw error
    } finally {
      held.users--
      this.#unloadIdle()
    }
  }

  async #load(hash: BlobHash): Promise<AdapterRef> {
    return this.#service.loadAdapter(await this.#blob(hash))
  }

  #unloadIdle(): void {
    for (const [hash, { ready, users }] of this.#held) {
      if (this.#held.size <= this.#most) return
      if (users > 0) continue
      this.#held.delete(hash)
      void ready.then(
        (adapter) => this.#service.sampler.unload(adapter).catch(() => {}),
        () => {},
      )
    }
  }
}
