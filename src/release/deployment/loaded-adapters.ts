import {
  type AdapterRef,
  asWeights,
  type BlobRepository,
  type ModelService,
  savedAt,
  type Version,
  type VersionId,
} from '../../core/index.ts'

/** Adapters that stay loaded though no session uses them: what serves, and what is tried beside it. */
const mostIdle = 2

interface Loaded {
  readonly adapter: Promise<AdapterRef | null>
  uses: number
}

/** Adapters of the Versions that serve, loaded once for all sessions that they serve. */
export class LoadedAdapters {
  readonly #model: ModelService
  readonly #blobs: Pick<BlobRepository, 'get'>
  /** The one that was used last is the last. */
  readonly #loaded = new Map<VersionId, Loaded>()

  constructor(model: ModelService, blobs: Pick<BlobRepository, 'get'>) {
    this.#model = model
    this.#blobs = blobs
  }

  /**
   * Works with the adapter of a Version of weights; `null` is the base model exactly. One that cannot be loaded fails only who
   * waits for it: the next session tries again.
   */
  async use<T>(version: Version, work: (adapter: AdapterRef | null) => Promise<T>): Promise<T> {
    const known = this.#loaded.get(version.id) ?? this.#opened(version)
    this.#loaded.delete(version.id)
    this.#loaded.set(version.id, known)
    known.uses++
    try {
      return await work(await known.adapter)
    } finally {
      known.uses--
      // The session is over, whatever stays loaded.
      await this.#unloadBeyond(mostIdle).catch(() => {})
    }
  }

  /** Unloads all that no session uses; throws what the model did at the first that it would not unload. */
  close(): Promise<void> {
    return this.#unloadBeyond(0)
  }

  #opened(version: Version): Loaded {
    const opened: Loaded = { adapter: this.#load(version), uses: 0 }
    opened.adapter.catch(() => {
      if (this.#loaded.get(version.id) === opened) this.#loaded.delete(version.id)
    })
    return opened
  }

  async #load({ value }: Version): Promise<AdapterRef | null> {
    const adapter = asWeights(value)?.adapter ?? null
    return adapter === null ? null : this.#model.loadAdapter(await savedAt(this.#blobs, adapter))
  }

  async #unloadBeyond(most: number): Promise<void> {
    const idle = [...this.#loaded].filter(([, { uses }]) => uses === 0)
    const failures: unknown[] = []
    for (const [id, { adapter }] of idle.slice(0, Math.max(0, idle.length - most))) {
      this.#loaded.delete(id)
      try {
        const ref = await adapter
        if (ref) await this.#model.sampler.unload(ref)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
