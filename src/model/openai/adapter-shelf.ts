import { blobKey, type BlobHash, type BlobRef } from '../../core/index.ts'

export interface AdapterShelfOptions<T, R extends BlobRef = BlobHash> {
  /** Adapters that are held at once, at most; more only while requests use more. */
  readonly most: number
  readonly load: (ref: R) => Promise<T>
  /** Its failures are nobody's business: what stays loaded too long costs memory, and nothing else. */
  readonly unload: (adapter: T, ref: R) => Promise<void>
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

interface Slot<T, R> {
  readonly ref: R
  readonly loading: Promise<T>
  /** Once it is loaded. */
  held: { readonly adapter: T } | null
  users: number
}

/**
 * Adapters over one model, by where they are kept: loaded when first asked for, never unloaded while a request uses
 * them (invariant 11), and of the others the latest used are kept.
 */
export class AdapterShelf<T, R extends BlobRef = BlobHash> {
  readonly #options: AdapterShelfOptions<T, R>
  readonly #restMs: number
  readonly #time: { now(): number }
  /** The least recently used first. */
  readonly #slots = new Map<string, Slot<T, R>>()
  readonly #leaving = new Map<string, Promise<void>>()
  readonly #failed = new Map<string, { readonly error: unknown; readonly at: number }>()

  constructor(options: AdapterShelfOptions<T, R>) {
    this.#options = options
    this.#restMs = options.restMs ?? 5_000
    this.#time = options.time ?? performance
  }

  /** Loads it, unless it is there, whatever became of the last try. @throws what loading throws. */
  async prepare(ref: R): Promise<void> {
    this.#failed.delete(blobKey(ref))
    const { giveBack } = await this.take(ref)
    giveBack()
  }

  /** @throws what loading throws, or threw a moment ago. */
  async take(ref: R): Promise<TakenAdapter<T>> {
    const key = blobKey(ref)
    const slot = this.#slots.get(key) ?? this.#begin(key, ref)
    this.#slots.delete(key)
    this.#slots.set(key, slot)
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
  forget(ref: R, adapter: T): void {
    const key = blobKey(ref)
    if (this.#slots.get(key)?.held?.adapter === adapter) this.#slots.delete(key)
  }

  #begin(key: string, ref: R): Slot<T, R> {
    const failed = this.#failed.get(key)
    if (failed && this.#time.now() - failed.at < this.#restMs) throw failed.error
    this.#failed.delete(key)
    const slot: Slot<T, R> = { ref, loading: this.#load(key, ref), held: null, users: 0 }
    this.#slots.set(key, slot)
    slot.loading.then(
      (adapter) => {
        slot.held = { adapter }
        this.#trim()
      },
      (error: unknown) => {
        if (this.#slots.get(key) === slot) this.#slots.delete(key)
        if (this.#failed.size >= mostFailures) this.#failed.clear()
        this.#failed.set(key, { error, at: this.#time.now() })
      },
    )
    return slot
  }

  async #load(key: string, ref: R): Promise<T> {
    await this.#leaving.get(key)
    return this.#options.load(ref)
  }

  #trim(): void {
    for (const [key, slot] of this.#slots) {
      if (this.#slots.size <= this.#options.most) return
      if (slot.users > 0 || slot.held === null) continue
      this.#slots.delete(key)
      const left = () => void this.#leaving.delete(key)
      this.#leaving.set(key, this.#options.unload(slot.held.adapter, slot.ref).then(left, left))
    }
  }
}

/** Failures that are remembered. */
const mostFailures = 256
