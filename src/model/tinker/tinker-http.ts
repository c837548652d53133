import { Pool } from 'undici'
import { type Json, turns } from '../../core/index.ts'
import { baseUrl, usableKey } from '../http/address.ts'
import { Exchange, type ExchangeLimits, type Incoming } from '../http/exchange.ts'
import { errorMessage } from '../http/failures.ts'
import { readBytes, readErrorBody, readJson } from '../http/read-json.ts'
import { retryAfterOf } from '../http/retry-after.ts'
import { isUpstreamFailure } from '../http/upstream-error.ts'
import { cancelled, malformed } from './failures.ts'
import { protobufType } from './protobuf.ts'

/** Where the server is, and how long and how much it may answer. */
export interface TinkerHttpOptions {
  /** The root of the server: `/api/v1` follows it. */
  readonly url: string
  /** Sent as `X-API-Key`; `null` sends none. */
  readonly apiKey: string | null
  /** From a request until its answer, in milliseconds. A question for a result is asked again after it. */
  readonly answerTimeoutMs: number
  readonly maxAnswerBytes: number
}

/** One request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below `/api/v1`. */
  readonly path: string
  /** JSON, or the bytes of a protobuf message. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The content of an answer with status 2xx. */
export type AnswerBody =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'protobuf'; readonly bytes: Uint8Array }
  | { readonly type: 'file'; readonly bytes: Uint8Array }

/** What came of a request: an answer, a refusal by the server or a proxy before it, or nothing. */
export type HttpOutcome =
  | { readonly kind: 'answer'; readonly body: AnswerBody }
  | {
      readonly kind: 'status'
      readonly status: number
      /** The server's words, without the key. */
      readonly detail: string | null
      readonly said: Json | null
      readonly retryAfterMs: number | null
    }
  | { readonly kind: 'lost'; readonly late: boolean; readonly why: string }

/** As checkpoints come. */
const fileTypes = new Set(['application/octet-stream', 'application/gzip', 'application/x-tar'])
const connectTimeoutMs = 10_000
const name = 'tinker'

/** Requests to a Tinker server over kept connections. Answers are bounded in time and size; no redirect is followed. */
export class TinkerHttp {
  readonly #pool: Pool
  readonly #base: string
  readonly #key: string | null
  readonly #limits: ExchangeLimits

  /** @throws InputError for a url or a key that cannot be used. */
  constructor({ url, apiKey, answerTimeoutMs, maxAnswerBytes }: TinkerHttpOptions) {
    const { origin, pathname } = baseUrl(url, name)
    this.#base = `${pathname.replace(/\/+$/, '')}/api/v1`
    this.#key = apiKey === null ? null : usableKey(apiKey, name)
    this.#limits = {
      upstream: name,
      firstByteTimeoutMs: answerTimeoutMs,
      idleTimeoutMs: answerTimeoutMs,
      maxAnswerBytes,
    }
    this.#pool = new Pool(origin, { connect: { timeout: connectTimeoutMs }, headersTimeout: 0, bodyTimeout: 0 })
  }

  /**
   * Sends a request once.
   * @param what how errors call it.
   * @throws TinkerError `model/tinker-cancelled` when the signal fires; `model/tinker-malformed` for an answer that is too
   * large, or of a form that this protocol does not have.
   */
  async send(request: HttpRequest, what: string, signal: AbortSignal): Promise<HttpOutcome> {
    if (signal.aborted) throw cancelled(what)
    try {
      const incoming = await this.#dispatch(request, signal)
      if (incoming.status >= 200 && incoming.status < 300) return { kind: 'answer', body: await this.#bodyOf(incoming) }
      return this.#statusOf(incoming, withoutKey(await readErrorBody(incoming), this.#key))
    } catch (error) {
      if (!isUpstreamFailure(error)) throw error
      if (error.kind === 'cancelled') throw cancelled(what)
      if (error.code === 'model/upstream-malformed' || error.code === 'model/upstream-too-large') {
        throw malformed(what, `something that cannot be read: ${error.message}`, error)
      }
      return { kind: 'lost', late: error.kind === 'timeout', why: error.message }
    }
  }

  /** Ends every request under way. */
  close(): Promise<void> {
    return this.#pool.destroy()
  }

  #dispatch({ method, path, body, headers }: HttpRequest, signal: AbortSignal): Promise<Incoming> {
    const binary = body instanceof Uint8Array
    const type = binary ? protobufType : 'application/json'
    return new Promise((resolve, reject) => {
      this.#pool.dispatch(
        {
          method,
          path: `${this.#base}${path}`,
          headers: {
            accept: `application/json, ${protobufType}`,
            'user-agent': 'ratchet',
            ...(body === undefined ? {} : { 'content-type': type }),
            ...(this.#key === null ? {} : { 'x-api-key': this.#key }),
            ...headers,
          },
          body: body === undefined ? null : binary ? Buffer.from(body) : JSON.stringify(body),
        },
        new Exchange(this.#limits, signal, { resolve, reject }),
      )
    })
  }

  #statusOf({ status, headers }: Incoming, said: Json | null): HttpOutcome {
    const seconds = retryAfterOf(headers, Date.now())
    const detail = errorMessage(said) ?? (said === null ? null : JSON.stringify(said).slice(0, 500))
    return { kind: 'status', status, detail, said, retryAfterMs: seconds === null ? null : seconds * 1_000 }
  }

  async #bodyOf(incoming: Incoming): Promise<AnswerBody> {
    if (incoming.status === 204) return { type: 'json', value: null }
    const type = incoming.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
    if (fileTypes.has(type)) return { type: 'file', bytes: await readBytes(incoming) }
    if (type !== protobufType) {
      return { type: 'json', value: withoutKey((await readJson(incoming, name)).value, this.#key) }
    }
    const bytes = await readBytes(incoming)
    await turns.next(bytes.length)
    return { type: 'protobuf', bytes }
  }
}

/** What was said, with the key left out wherever a server repeats it: errors and events quote servers. */
function withoutKey<T>(said: T, key: string | null): T {
  if (key === null) return said
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(key, '***')
    if (Array.isArray(value)) return typeof value[0] === 'number' ? value : value.map(clean)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, clean(one)]))
  }
  return clean(said) as T
}
