import { LRUCache } from 'lru-cache'
import type { ApiKey, KeyId, KeyRepository } from '../../core/index.ts'
import { keysUnreadable, tooManyLookups } from './refusals.ts'

/** How long a key that was read is believed: within so long, a revocation has reached every gateway of a store. */
export const knownMs = 3_000
/** How long an id is believed to be nobody's: short, so that a new key works at once everywhere. */
const unknownMs = 1_000
/** Ids kept of each sort. A flood of made-up ids fills only the second, and costs its own requests and nothing else. */
const most = 10_000
/** Ids being looked up at once. */
const mostLookups = 256

/** Keys by id, read from the store once in a while. */
export class KeyCache {
  readonly #keys: Pick<KeyRepository, 'get'>
  readonly #known: LRUCache<KeyId, ApiKey>
  readonly #unknown: LRUCache<KeyId, true>
  readonly #lookups = new Map<KeyId, Promise<ApiKey | null>>()

  /** @param perf where the time of the cache comes from: monotonic, so that a clock set back keeps no revoked key alive. */
  constructor(keys: Pick<KeyRepository, 'get'>, perf: { now(): number } = performance) {
    this.#keys = keys
    // Time is read anew each time: the package would otherwise keep it for a timer's tick.
    this.#known = new LRUCache({ max: most, ttl: knownMs, ttlResolution: 0, perf, noDeleteOnStaleGet: true })
    this.#unknown = new LRUCache({ max: most, ttl: unknownMs, ttlResolution: 0, perf })
  }

  /**
   * @returns `null` when there is no such key.
   * @throws GatewayError 503 when the store cannot be read, 429 when too many ids that nobody has seen come at once.
   */
  async get(id: KeyId): Promise<ApiKey | null> {
    const known = this.#known.get(id)
    if (known) return known
    if (this.#unknown.has(id)) return null
    return this.#lookups.get(id) ?? this.#lookUp(id)
  }

  /** Reads it anew next time: it was made, changed or revoked here. */
  forget(id: KeyId): void {
    this.#known.delete(id)
    this.#unknown.delete(id)
    this.#lookups.delete(id)
  }

  /** Reads every key anew next time: some were removed. */
  clear(): void {
    this.#known.clear()
    this.#unknown.clear()
    this.#lookups.clear()
  }

  async #lookUp(id: KeyId): Promise<ApiKey | null> {
    // Whose key was good a moment ago is no part of a flood.
    const seen = this.#known.peek(id, { allowStale: true }) !== undefined
    if (!seen && this.#lookups.size >= mostLookups) throw tooManyLookups()
    const lookup = this.#keys.get(id)
    this.#lookups.set(id, lookup)
    try {
      const key = await lookup
      // What was forgotten meanwhile is not remembered as it was before.
      if (this.#lookups.get(id) === lookup) {
        if (key) this.#known.set(id, key)
        else this.#unknown.set(id, true)
      }
      return key
    } catch (error) {
      throw keysUnreadable(error)
    } finally {
      if (this.#lookups.get(id) === lookup) this.#lookups.delete(id)
    }
  }
}
