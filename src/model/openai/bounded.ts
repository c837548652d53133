import type { ChatUpstream, UpstreamLoad } from '../../core/index.ts'
import { cancelled } from '../http/failures.ts'
import { held } from './held.ts'
import { UpstreamError } from '../http/upstream-error.ts'

export interface BoundOptions {
  /** Calls at once. */
  readonly concurrency: number
  /** Calls that wait for a place, first come, first served; one more is told to come back. */
  readonly queue: number
}

/**
 * At most so many calls at once: chat and embeddings; lists of models pass. A stream holds its place until it ends, fails,
 * is left early, or its signal fires. A call that is cancelled while it waits leaves the queue.
 */
export function bounded(upstream: ChatUpstream, options: BoundOptions): ChatUpstream {
  const places = new Places(upstream.name, options)
  return {
    name: upstream.name,
    get tellsTokens() {
      return upstream.tellsTokens
    },
    get servesAdapters() {
      return upstream.servesAdapters
    },
    prepare: (model, weights) => upstream.prepare(model, weights),
    weights: (model, answered) => upstream.weights(model, answered),
    models: (call) => upstream.models(call),
    async chat(call) {
      const leave = await places.take(call.signal)
      try {
        const reply = await upstream.chat(call)
        if (reply.kind === 'stream') return held(reply, leave, call.signal)
        leave()
        return reply
      } catch (error) {
        leave()
        throw error
      }
    },
    async embeddings(call) {
      const leave = await places.take(call.signal)
      return upstream.embeddings(call).finally(leave)
    },
    load: () => [places.load()],
    close: () => upstream.close(),
  }
}

/** Places for calls, and the queue before them. */
class Places {
  readonly #name: string
  readonly #options: BoundOptions
  #taken = 0
  readonly #waiting = new Set<() => void>()
  /** How long a place is held, in milliseconds: a moving average. */
  #holdMs = 1_000

  constructor(name: string, options: BoundOptions) {
    this.#name = name
    this.#options = options
  }

  /**
   * Waits for a place; the function that comes back gives it up, once.
   * @throws UpstreamError `busy` when the queue is full, `cancelled` when the signal fires.
   */
  take(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) return Promise.reject(cancelled(this.#name))
    if (this.#taken < this.#options.concurrency) return Promise.resolve(this.#place())
    if (this.#waiting.size >= this.#options.queue) return Promise.reject(this.#full())
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', onAbort)
        resolve(this.#place())
      }
      const onAbort = (): void => {
        this.#waiting.delete(enter)
        reject(cancelled(this.#name))
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.add(enter)
    })
  }

  load(): UpstreamLoad {
    return { upstream: this.#name, active: this.#taken, waiting: this.#waiting.size }
  }

  #place(): () => void {
    this.#taken++
    const since = performance.now()
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#taken--
      this.#holdMs += (performance.now() - since - this.#holdMs) / 16
      const [next] = this.#waiting
      if (next) {
        this.#waiting.delete(next)
        next()
      }
    }
  }

  #full(): UpstreamError {
    const { concurrency, queue } = this.#options
    const seconds = Math.ceil(((queue + 1) / concurrency) * (this.#holdMs / 1_000))
    return new UpstreamError({
      code: 'model/upstream-queue-full',
      kind: 'busy',
      upstream: this.#name,
      message: `The upstream ${this.#name} has ${concurrency} calls at work and ${queue} that wait.`,
      hint: 'Come back after the time that Retry-After names, or raise its concurrency or queue.',
      retryAfterSeconds: Math.min(60, Math.max(1, seconds)),
    })
  }
}
