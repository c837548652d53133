import type { Clock } from '../../core/index.ts'
import { isUpstreamFailure } from '../../model/openai/index.ts'
import { VerifierTimeout } from './ask-verifier.ts'

/** Statuses that say something of the address, the key or the account, and nothing of the session. */
const notOfTheSession: ReadonlySet<number> = new Set([401, 402, 403, 404])

/**
 * Whether what was thrown says nothing of the session: who is asked is busy, late or not there, or takes no key of ours. A
 * program's time is its own: it may be over for one session alone.
 */
export function isOutage(error: unknown, by: 'verifier' | 'judge'): boolean {
  if (error instanceof VerifierTimeout) return by === 'judge'
  if (!isUpstreamFailure(error)) return false
  const { kind, status, code } = error
  if (kind === 'refused') return status !== null && notOfTheSession.has(status)
  return kind !== 'broken' || code === 'model/upstream-own-key' || (status !== null && status >= 500)
}

const firstPauseMs = 5_000
const longestPauseMs = 600_000

/** When somebody who is out is asked again: later each time, until an answer comes. */
export class Pauses {
  readonly #clock: Clock
  #pauseMs = 0
  #until = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isPaused(): boolean {
    return this.#clock.now() < this.#until
  }

  /**
   * Those that were asked together fail together, and count once.
   * @returns whether this one counted.
   */
  failed(error: unknown): boolean {
    if (this.isPaused) return false
    const asked = isUpstreamFailure(error) ? (error.retryAfterSeconds ?? 0) * 1_000 : 0
    this.#pauseMs = Math.min(Math.max(2 * this.#pauseMs, firstPauseMs), longestPauseMs)
    this.#until = this.#clock.now() + Math.min(Math.max(this.#pauseMs, asked), longestPauseMs)
    return true
  }

  answered(): void {
    this.#pauseMs = 0
    this.#until = 0
  }
}
