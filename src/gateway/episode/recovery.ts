import type { Clock, TrafficRepository } from '../../core/index.ts'

export interface RecoveryOptions {
  readonly traffic: TrafficRepository
  /** Whether no other process writes this store (SQLite): then whatever is under way when this one starts is dead. */
  readonly exclusive: boolean
  readonly journalMs: number
  readonly clock: Clock
  readonly onProblem: (error: unknown) => void
}

/** After so many times without news a call is given up for dead, but not sooner than after `leastMs`. */
const missedBeats = 20
const leastMs = 30_000
/** Beyond every clock's time, and still a whole number to every database. */
const endOfTime = Number.MAX_SAFE_INTEGER

/** How long a call may be without news before another gateway gives it up. Milliseconds. */
export const givenUpAfter = (journalMs: number): number => Math.max(leastMs, missedBeats * journalMs)

/** Turns half answers of processes that died into parts that say `interrupted`. */
export class Recovery {
  /** Resolves once those are done that this process must not take for its own. Never rejects. */
  readonly ready: Promise<void>
  readonly #timer: NodeJS.Timeout | null

  constructor({ traffic, exclusive, journalMs, clock, onProblem }: RecoveryOptions) {
    const afterMs = givenUpAfter(journalMs)
    const recover = async (before: number) => {
      try {
        await traffic.recoverPending(before)
      } catch (error) {
        onProblem(error)
      }
    }
    const first = recover(exclusive ? endOfTime : clock.now() - afterMs)
    this.ready = exclusive ? first : Promise.resolve()
    this.#timer = exclusive ? null : setInterval(() => void recover(clock.now() - afterMs), afterMs / 2).unref()
  }

  close(): void {
    if (this.#timer) clearInterval(this.#timer)
  }
}
