import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatUpstream, UpstreamFailure } from '../../core/index.ts'
import { begun } from './begun.ts'
import { cancelled } from '../http/failures.ts'
import { isUpstreamFailure } from '../http/upstream-error.ts'

export interface RetryOptions {
  /** Tries after the first. */
  readonly retries: number
  /** The wait before the n-th retry is uniform in [0, base · 2ⁿ⁻¹], at most `maxDelayMs` (full jitter). Default 250 and 8 000. */
  readonly baseDelayMs?: number
  readonly maxDelayMs?: number
  /** Retry-After is waited for up to this long; beyond it the client is told to come back. Default 10 000. */
  readonly maxRetryAfterMs?: number
  /** Uniform in [0, 1). */
  readonly random?: () => number
}

/**
 * Tries again where nothing of an answer has been handed on: no connection, 408, 409, 429, 5xx, an answer cut before its
 * first chunk. Not after a time-out: the upstream may be at work on it, and whoever asked has waited long already.
 * Source: the OpenAI SDKs retry the same statuses; "full jitter" of Brooker, "Exponential Backoff And Jitter" (AWS, 2015).
 */
export function retrying(upstream: ChatUpstream, options: RetryOptions): ChatUpstream {
  const again = <T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> =>
    withRetries(upstream.name, signal, options, attempt)
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
    models: (call) => again(call.signal, () => upstream.models(call)),
    chat: (call) => again(call.signal, async () => begun(await upstream.chat(call))),
    embeddings: (call) => again(call.signal, () => upstream.embeddings(call)),
    close: () => upstream.close(),
  }
}

async function withRetries<T>(
  name: string,
  signal: AbortSignal,
  { retries, baseDelayMs = 250, maxDelayMs = 8_000, maxRetryAfterMs = 10_000, random = Math.random }: RetryOptions,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await attempt()
    } catch (error) {
      if (failed >= retries || !isUpstreamFailure(error) || !isPassing(error)) throw error
      const asked = (error.retryAfterSeconds ?? 0) * 1_000
      if (asked > maxRetryAfterMs) throw error
      const backOff = random() * Math.min(maxDelayMs, baseDelayMs * 2 ** failed)
      await sleep(Math.max(asked, backOff), undefined, { signal }).catch(() => {
        throw cancelled(name)
      })
    }
  }
}

/** Whether the next try may go better. */
function isPassing({ kind, status, code, body }: UpstreamFailure): boolean {
  switch (kind) {
    case 'unreachable':
      return true
    case 'refused':
      return status === 409
    case 'timeout':
      return status === 408
    case 'busy':
      // Without a status it is our own queue that is full. A used-up quota does not fill up within seconds.
      return status !== null && !JSON.stringify(body).includes('"insufficient_quota"')
    case 'broken':
      return (
        code !== 'model/upstream-too-large' &&
        code !== 'model/upstream-own-key' &&
        code !== 'model/adapter-not-served' &&
        (status ?? 500) !== 501
      )
    case 'cancelled':
      return false
  }
}
