import type { BlobHash } from '../../core/index.ts'

export interface AdapterShelfOptions<T> {
  /** Adapters that are held at once, at most; more only while requests use more. */
  readonly most: number
  readonly load: (hash: BlobHash) => Promise<T>
  /** Its failures are nobody's business: what stays loaded too long costs memory, and nothing else. */
  readonly unload: (adapter: T, hash: BlobHash) => Promise<void>
  /** For how long a request hears of a load that failed without another try, in milliseconds. Default 5,000. */
  readonly restMs?: number
  /** Milliseconds, from any beginning. */
  readonly time?: { now(): number }
}

/** An adapter for as long as one request uses it. */
export interface TakenAdapter<T> {
  readonly adapter: T
  /** Once, after the last token. */
  readonly giveBack: () => void
}

interface Slot<T> {
  readonly loading: Promise<T>
  /** Once it is loaded. */
  held: { readonly adapter: T } | null
  users: number
}

/**
 * Adapters over one model, by the hash of their bytes: loaded when first asked for, never unloaded while a request uses
 * them (invariant 11), and of the others the latest used are kept.
 */
export class AdapterShelf<T> {
  readonly #options: AdapterShelfOptions<T>
  readonly #restMs: number
  readonly #time: { now(): number }
  /** The least recently used first. */
  readonly #slots = new Map<BlobHash, Slot<T>>()
  readonly #leaving = new Map<BlobHash, Promise<void>>()
  readonly #failed = new Map<BlobHash, { readonly error: unknown; readonly at: number }>()

  constructor(options: AdapterShelfOptions<T>) {
    this.#options = options
    this.#restMs = options.restMs ?? 5_000
    this.#time = options.time ?? performance
  }

  /** Loads it, unless it is there, whatever became of the last try. @throws what loading throws. */
  async prepare(hash: BlobHash): Promise<void> {
    this.#failed.delete(hash)
    const { giveBack } = await this.take(hash)
    giveBack()
  }

  /** @throws what loading throws, or threw a moment ago. */
  async take(hash: BlobHash): Promise<TakenAdapter<T>> {
    const slot = this.#slots.get(hash) ?? this.#begin(hash)
    this.#slots.delete(hash)
    this.#slots.set(hash, slot)
    slot.users += 1
    let taken = true
    const giveBack = () => {
      if (!taken) return
      taken = false
      slot.users -= 1
      this.#trim()
    }
    try {
      return { adapter: await slot.loading, giveBack }
    } catch (error) {
      giveBack()
      throw error
    }
  }

  /** Whoever holds the adapters has lost this one: the next request loads it again. */
  forget(hash: BlobHash, adapter: T): void {
    if (this.#slots.get(hash)?.held?.adapter === adapter) this.#slots.delete(hash)
  }

  #begin(hash: BlobHash): Slot<T> {
    const failed = this.#failed.get(hash)
    if (failed && this.#time.now() - failed.at < this.#restMs) throw failed.error
    this.#failed.delete(hash)
    const slot: Slot<T> = { loading: this.#load(hash), held: null, users: 0 }
    this.#slots.set(hash, slot)
    slot.loading.then(
      (adapter) => {
        slot.held = { adapter }
        this.#trim()
      },
      (error: unknown) => {
        if (this.#slots.get(hash) === slot) this.#slots.delete(hash)
        if (this.#failed.size >= mostFailures) this.#failed.clear()
        this.#failed.set(hash, { error, at: this.#time.now() })
      },
    )
    return slot
  }

  async #load(hash: BlobHash): Promise<T> {
    await this.#leaving.get(hash)
    return this.#options.load(hash)
  }

  #trim(): void {
    for (const [hash, slot] of this.#slots) {
      if (this.#slots.size <= this.#options.most) return
      if (slot.users > 0 || slot.held === null) continue
      this.#slots.delete(hash)
      const left = () => void this.#leaving.delete(hash)
      this.#leaving.set(hash, this.#options.unload(slot.held.adapter, hash).then(left, left))
    }
  }
}

/** Failures that are remembered. */
const mostFailures = 256
