import type { Client } from './client.ts'
import { refusal } from './refusals.ts'

/** Why a call under way was stopped before its end. */
export type Stop = 'client-gone' | 'slow-reader' | 'shutting-down'

/** One request being answered. */
export class Call {
  readonly #controller = new AbortController()
  readonly #endings: (() => void)[] = []
  #stopped: Stop | null = null
  #lasts: Promise<void> | null = null

  /** Fires when the answer is not wanted any more. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Why {@link signal} fired; `null` while it has not. */
  get stopped(): Stop | null {
    return this.#stopped
  }

  stop(why: Stop): void {
    if (this.#stopped !== null) return
    this.#stopped = why
    this.#controller.abort()
  }

  /** What is given up when the call ends, however it ends. */
  onEnd(ending: () => void): void {
    this.#endings.push(ending)
  }

  /** The call lasts until `work` is over: the response began before. `work` must not reject. */
  lastsUntil(work: Promise<void>): void {
    this.#lasts = work
  }

  get lasts(): Promise<void> | null {
    return this.#lasts
  }

  end(): void {
    for (const ending of this.#endings.splice(0)) ending()
  }
}

/** All calls under way, so that the gateway can end without breaking one. */
export class Calls {
  readonly #open = new Set<Call>()
  readonly #idle: (() => void)[] = []
  #closing = false

  /**
   * Runs `work` as one call, and ends it after everything that it lasts for.
   * @throws GatewayError 503 when the gateway is shutting down.
   */
  async run<T>(client: Client, work: (call: Call) => Promise<T>): Promise<T> {
    if (this.#closing) throw shuttingDown()
    const call = new Call()
    this.#open.add(call)
    call.onEnd(client.onGone(() => call.stop('client-gone')))
    try {
      return await work(call)
    } finally {
      if (call.lasts === null) this.#end(call)
      else void call.lasts.then(() => this.#end(call))
    }
  }

  /** Takes no more calls. */
  close(): void {
    this.#closing = true
  }

  /** Stops what is under way; each is recorded as far as it came. */
  stopAll(): void {
    for (const call of this.#open) call.stop('shutting-down')
  }

  /** Resolves once nothing is under way. */
  idle(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve()
    return new Promise((resolve) => this.#idle.push(resolve))
  }

  #end(call: Call): void {
    call.end()
    this.#open.delete(call)
    if (this.#open.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

export const shuttingDown = () =>
  refusal('shutting-down', 'The gateway is shutting down.', 'Send the request again: another process will answer.', {
    status: 503,
    type: 'server_error',
    retryAfterSeconds: 1,
  })
