import { Pool } from 'undici'
import type { Json } from '../../core/index.ts'
import { baseUrl, usableKey } from '../http/address.ts'
import { Exchange, type ExchangeLimits, type Incoming } from '../http/exchange.ts'
import { cancelled, recordOf, refusal } from '../http/failures.ts'
import { readErrorBody } from '../http/read-json.ts'
import { retryAfterOf } from '../http/retry-after.ts'
import type { UpstreamError } from '../http/upstream-error.ts'

export interface EndpointOptions extends ExchangeLimits {
  /** The base URL of an OpenAI-compatible API, `/v1` included; a `/` at its end does not matter. */
  readonly url: string
  /** The upstream's own key; `null`: each request brings its `Authorization`. */
  readonly key: string | null
  /** Certificates of authorities to trust in place of the public ones, as PEM. */
  readonly ca: string | null
}

/** One request to an endpoint. */
export interface EndpointRequest {
  readonly method: 'GET' | 'POST'
  /** Below the base URL: `/chat/completions`. */
  readonly path: string
  /** JSON; `undefined` for none. */
  readonly body?: unknown
  /** The client's own; an endpoint with a key of its own does not send it. */
  readonly authorization: string | null
  readonly accept: 'application/json' | 'text/event-stream'
  readonly signal: AbortSignal
}

const connectTimeoutMs = 10_000

/** An HTTP API behind one base URL: connections that are kept, authorization, and failures in words. */
export class Endpoint {
  readonly #options: EndpointOptions
  readonly #pool: Pool
  readonly #base: string
  readonly #search: string
  readonly #authorization: string | null

  /** @throws InputError for a url or a key that cannot be used. */
  constructor(options: EndpointOptions) {
    const { upstream, url, key, ca, firstByteTimeoutMs } = options
    const { origin, pathname, search } = baseUrl(url, upstream)
    this.#options = options
    this.#base = pathname.replace(/\/+$/, '')
    this.#search = search
    this.#authorization = key === null ? null : `Bearer ${usableKey(key, upstream)}`
    this.#pool = new Pool(origin, {
      connect: { timeout: Math.min(connectTimeoutMs, firstByteTimeoutMs), ...(ca === null ? {} : { ca }) },
      // An Exchange watches the time.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /**
   * Sends a request. Resolves with the head of an answer of status 2xx.
   * @throws UpstreamError for any other answer, and when there is none.
   */
  async send(request: EndpointRequest): Promise<Incoming> {
    if (request.signal.aborted) throw cancelled(this.#options.upstream)
    const authorization = this.#authorization ?? request.authorization
    const body = request.body === undefined ? null : JSON.stringify(request.body)
    const incoming = await new Promise<Incoming>((resolve, reject) => {
      this.#pool.dispatch(
        {
          method: request.method,
          path: `${this.#base}${request.path}${this.#search}`,
          headers: {
            accept: request.accept,
            'user-agent': 'ratchet',
            ...(body === null ? {} : { 'content-type': 'application/json' }),
            ...(authorization === null ? {} : { authorization }),
          },
          body,
        },
        new Exchange(this.#options, request.signal, { resolve, reject }),
      )
    })
    if (incoming.status >= 200 && incoming.status < 300) return incoming
    const said = await readErrorBody(incoming)
    const retryAfterSeconds = retryAfterOf(incoming.headers, Date.now())
    throw this.#refusal(incoming.status, said, retryAfterSeconds, request.authorization)
  }

  /** The failure that an error object means which came with status 200; `null` when the value is no error. */
  failureIn(value: unknown, authorization: string | null): UpstreamError | null {
    const record = recordOf(value)
    const error = record?.object === 'error' ? record : record?.error
    if (error === undefined || error === null) return null
    const code = Number(recordOf(error)?.code)
    const status = Number.isInteger(code) && code >= 400 && code < 600 ? code : null
    return this.#refusal(status, { error }, null, authorization)
  }

  /** Ends every request under way. */
  close(): Promise<void> {
    return this.#pool.destroy()
  }

  #refusal(
    status: number | null,
    said: Json | null,
    retryAfterSeconds: number | null,
    authorization: string | null,
  ): UpstreamError {
    const body = said === null ? null : withoutSecrets(said, [this.#authorization, authorization])
    const { upstream } = this.#options
    return refusal({ upstream, status, body, retryAfterSeconds, ownKey: this.#authorization !== null })
  }
}

/** Some servers repeat the key that they refuse. */
function withoutSecrets(body: Json, authorizations: readonly (string | null)[]): Json {
  let text = JSON.stringify(body)
  for (const authorization of authorizations) {
    const secret = authorization?.replace(/^\w+ +/, '') ?? ''
    if (secret.length >= 4) text = text.replaceAll(JSON.stringify(secret).slice(1, -1), '***')
  }
  return JSON.parse(text) as Json
}
