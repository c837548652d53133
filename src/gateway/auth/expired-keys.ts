import type { Clock, KeyRepository } from '../../core/index.ts'

/** What removing expired keys needs. */
export interface ExpiredKeysOptions {
  readonly keys: Pick<KeyRepository, 'removeExpired'>
  readonly clock: Clock
  /** Told of a sweep that failed: the next one tries again. */
  readonly onProblem: (error: unknown) => void
}

/** How long a key is kept after it expired: who still uses it is told that it expired, and not that it is unknown. */
export const keptMs = 24 * 60 * 60 * 1_000
const everyMs = 60_000
/** Keys of one transaction: other writes wait for no more. */
const keysAtOnce = 500

/** Removes keys of sessions a day after they expired, as long as the gateway runs. */
export class ExpiredKeys {
  readonly #options: ExpiredKeysOptions
  readonly #timer: NodeJS.Timeout
  #sweeping: Promise<void> | null = null
  #closed = false

  constructor(options: ExpiredKeysOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.sweep(), everyMs).unref()
    void this.sweep()
  }

  /** Removes what is due; one sweep at a time. Never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep().finally(() => {
      this.#sweeping = null
    })
    return this.#sweeping
  }

  /** Waits for the transaction under way. */
  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#sweeping
  }

  async #sweep(): Promise<void> {
    const { keys, clock, onProblem } = this.#options
    try {
      const before = clock.now() - keptMs
      for (let removed = keysAtOnce; removed === keysAtOnce && !this.#closed; ) {
        removed = await keys.removeExpired(before, keysAtOnce)
      }
    } catch (error) {
      onProblem(error)
    }
  }
}
