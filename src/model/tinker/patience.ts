import { setTimeout as sleep } from 'node:timers/promises'
import type { OnTinkerEvent } from './events.ts'
import { cancelled, overdue, unavailable, unreachable } from './failures.ts'
import { TinkerError } from './tinker-error.ts'
import type { HttpOutcome } from './tinker-http.ts'
import { QueueState } from './wire.ts'

/** How long a client waits for what. */
export interface PatienceLimits {
  /** Failures in a row of one request before it is given up. */
  readonly retries: number
  /** The wait before the n-th try again is uniform in [0, base · 2ⁿ⁻¹], at most 30 s (full jitter; Brooker, AWS 2015). */
  readonly baseDelayMs: number
  /** For one result, without the time for which the server says that it holds requests back. */
  readonly resultTimeoutMs: number
}

const longestDelayMs = 30_000
/** An answer that says "not yet" within this time did not wait for the result: asking at once would be a storm. */
const shortestPollMs = 1_000

type Status = Extract<HttpOutcome, { kind: 'status' }>

/** Waits on behalf of one request: decides whether it goes on, tells what a person should see, and sleeps. */
export class Patience {
  readonly #what: string
  readonly #limits: PatienceLimits
  readonly #tell: OnTinkerEvent
  readonly #signal: AbortSignal
  readonly #since = performance.now()
  #failures = 0
  #polls = 0
  #pausedSince: number | null = null
  #heldBack: string | null = null
  #pausedMs = 0

  constructor(what: string, limits: PatienceLimits, tell: OnTinkerEvent, signal: AbortSignal) {
    this.#what = what
    this.#limits = limits
    this.#tell = tell
    this.#signal = signal
  }

  /** A request under way. @throws TinkerError; for one that was cancelled it says why the server held it back before. */
  async asked<T>(sending: Promise<T>): Promise<T> {
    return sending.catch((error: unknown) => {
      const left = error instanceof TinkerError && error.code === 'model/tinker-cancelled'
      throw left ? cancelled(this.#what, this.#heldBack) : error
    })
  }

  /** The server answered as it should. */
  wentWell(): void {
    this.#failures = 0
    if (this.#pausedSince === null) return
    this.#pausedMs += performance.now() - this.#pausedSince
    this.#pausedSince = null
    this.#heldBack = null
    this.#tell({ type: 'resumed', request: this.#what, waitedMs: Math.round(this.#pausedMs) })
  }

  /** No answer, or a server's failure. @throws TinkerError when that was once too often. */
  async afterFailure(why: Status | Extract<HttpOutcome, { kind: 'lost' }>): Promise<void> {
    const tries = ++this.#failures
    if (tries > this.#limits.retries) {
      throw why.kind === 'lost'
        ? unreachable(this.#what, tries, why.why)
        : unavailable(this.#what, why.status, tries, why.detail)
    }
    this.#inTime()
    const reason = why.kind === 'lost' ? why.why : `status ${why.status}`
    this.#tell({ type: 'retried', request: this.#what, attempt: tries, why: reason })
    const backOff = Math.random() * Math.min(longestDelayMs, this.#limits.baseDelayMs * 2 ** (tries - 1))
    await this.#sleep(Math.max(backOff, why.kind === 'status' ? (why.retryAfterMs ?? 0) : 0))
  }

  /** 429: the server asks for patience, and gets it. */
  async whileBusy({ detail, retryAfterMs }: Status): Promise<void> {
    this.#paused('rate-limit', detail)
    const backOff = Math.min(longestDelayMs, this.#limits.baseDelayMs * 2 ** Math.min(this.#failures++, 10))
    await this.#sleep(Math.max(retryAfterMs ?? 0, backOff))
    this.#failures = Math.min(this.#failures, this.#limits.retries)
  }

  /**
   * There is no result yet. `said` may hold `queue_state` and `queue_state_reason`.
   * @param askedAt when the question was sent.
   * @throws TinkerError `model/tinker-timeout` after too long a wait for which the server gives no reason.
   */
  async notYet(said: unknown, askedAt: number): Promise<void> {
    const { queue_state: state, queue_state_reason: reason } = QueueState.catch({}).parse(said ?? {})
    if (state === 'paused_capacity') this.#paused('capacity', reason ?? null)
    else if (state === 'paused_rate_limit') this.#paused('rate-limit', reason ?? null)
    else this.wentWell()
    this.#failures = 0
    this.#inTime()
    if (performance.now() - askedAt >= shortestPollMs) {
      this.#polls = 0
      return
    }
    await this.#sleep(Math.min(shortestPollMs, this.#limits.baseDelayMs * 2 ** Math.min(this.#polls++, 10)))
  }

  #paused(reason: 'capacity' | 'rate-limit', said: string | null): void {
    const detail = said?.slice(0, 500) ?? null
    this.#heldBack = detail ?? reason
    this.#pausedSince ??= performance.now()
    const waitedMs = Math.round(this.#pausedMs + performance.now() - this.#pausedSince)
    this.#tell({ type: 'paused', request: this.#what, reason, detail, waitedMs })
  }

  #inTime(): void {
    if (this.#pausedSince !== null) return
    if (performance.now() - this.#since - this.#pausedMs <= this.#limits.resultTimeoutMs) return
    throw overdue(this.#what, this.#limits.resultTimeoutMs)
  }

  async #sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#signal }).catch(() => {
      throw cancelled(this.#what, this.#heldBack)
    })
  }
}
