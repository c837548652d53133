import type { Clock } from '../core/index.ts'
import type { TrainerState } from './journal/state.ts'

/** How long a result is kept that was handed over: the answer may be lost on its way, and is then asked for again at once. */
const deliveredMs = 300_000

/** Which results are still to be had. */
export class KeptResults {
  readonly #state: TrainerState
  readonly #clock: Clock
  readonly #keptMs: number
  readonly #began: number
  /** When each was last handed over. */
  readonly #delivered = new Map<string, number>()

  /** @param keptMs how long one is kept that nobody asks for. */
  constructor(state: TrainerState, clock: Clock, keptMs: number) {
    this.#state = state
    this.#clock = clock
    this.#keptMs = keptMs
    this.#began = clock.now()
  }

  /** The client has the result of a request. */
  delivered(id: string): void {
    this.#delivered.set(id, this.#clock.now())
  }

  /** Forgets what is over. */
  forget(): void {
    const now = this.#clock.now()
    const old = now - this.#keptMs
    const delivered = now - Math.min(this.#keptMs, deliveredMs)
    this.#state.forget((id, settledAt) => {
      const at = this.#delivered.get(id)
      if (at !== undefined) return at < delivered
      // While the server was away nobody could ask for a result.
      return settledAt < old && this.#began < old
    })
    for (const id of this.#delivered.keys()) if (!this.#state.requests.has(id)) this.#delivered.delete(id)
  }
}
