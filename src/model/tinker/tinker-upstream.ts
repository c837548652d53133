import type { BlobHash, ChatCall, ChatUpstream, ModelService } from '../../core/index.ts'
import { chatUpstream } from '../chat/index.ts'
import { cancelled, closed, failed } from '../chat/failures.ts'
import { isUpstreamFailure, UpstreamError } from '../http/upstream-error.ts'
import { TinkerError } from './tinker-error.ts'

export interface TinkerUpstreamOptions {
  /** For records, metrics and people. */
  readonly name: string
  /** Opens a session at the server, unless the signal fires. It is asked again where the server has lost one. */
  readonly open: (signal: AbortSignal) => Promise<ModelService>
  /** The bytes of adapters that are kept here, by their hash; others are at the server. */
  readonly adapterBytes: (hash: BlobHash) => Promise<Uint8Array>
  /** Adapters that are held at once. */
  readonly mostAdapters: number
  /** A request that has no answer within this time is given up. In milliseconds. */
  readonly answerTimeoutMs: number
  /** A session is not opened anew sooner after the last. In milliseconds. Default 30,000. */
  readonly reopenAfterMs?: number
}

/**
 * A model at a Tinker server as an upstream. Its session lasts as long as the upstream: one that the server has lost (it
 * restarted, or heard nothing for minutes) is opened anew, and the request that met that is asked again, once.
 * @throws what opening throws.
 */
export async function tinkerUpstream(options: TinkerUpstreamOptions): Promise<ChatUpstream> {
  return new TinkerUpstream(options, upstreamOver(await options.open(new AbortController().signal), options))
}

const upstreamOver = (service: ModelService, { name, adapterBytes, mostAdapters }: TinkerUpstreamOptions) =>
  chatUpstream({ name, service, adapterBytes, mostAdapters, ownsService: true })

class TinkerUpstream implements ChatUpstream {
  readonly tellsTokens = true
  readonly servesAdapters = true
  readonly #options: TinkerUpstreamOptions
  #current: ChatUpstream
  #reopening: Promise<void> | null = null
  /** Ends a reopening. */
  readonly #closing = new AbortController()
  #openedAt = performance.now()
  /** Sessions that are lost, until what is under way in them has ended. */
  readonly #lost = new Map<ChatUpstream, NodeJS.Timeout>()

  constructor(options: TinkerUpstreamOptions, first: ChatUpstream) {
    this.#options = options
    this.#current = first
  }

  get name(): string {
    return this.#options.name
  }

  prepare(...asked: Parameters<ChatUpstream['prepare']>): Promise<void> {
    return this.#again((upstream) => upstream.prepare(...asked))
  }

  weights(...asked: Parameters<ChatUpstream['weights']>): ReturnType<ChatUpstream['weights']> {
    return this.#current.weights(...asked)
  }

  models(...asked: Parameters<ChatUpstream['models']>): ReturnType<ChatUpstream['models']> {
    return this.#current.models(...asked)
  }

  /** Also opening a session and loading weights, which know of no signal, are not waited for longer. */
  async chat(call: ChatCall): ReturnType<ChatUpstream['chat']> {
    const timeout = AbortSignal.timeout(this.#options.answerTimeoutMs)
    const signal = AbortSignal.any([call.signal, timeout])
    const gone = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(cancelled(this.name)), { once: true })
    })
    try {
      return await Promise.race([this.#again((upstream) => upstream.chat({ ...call, signal })), gone])
    } catch (error) {
      const late = timeout.aborted && !call.signal.aborted && isUpstreamFailure(error) && error.kind === 'cancelled'
      throw late ? this.#late(error) : error
    }
  }

  embeddings(...asked: Parameters<ChatUpstream['embeddings']>): ReturnType<ChatUpstream['embeddings']> {
    return this.#current.embeddings(...asked)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#reopening?.catch(() => {})
    for (const timer of this.#lost.values()) clearTimeout(timer)
    await Promise.allSettled([this.#current, ...this.#lost.keys()].map((upstream) => upstream.close()))
  }

  async #again<T>(work: (upstream: ChatUpstream) => Promise<T>): Promise<T> {
    const used = this.#current
    try {
      return await work(used)
    } catch (error) {
      if (!isLost(error)) throw this.#told(error)
      await this.#reopen(used, error)
    }
    try {
      return await work(this.#current)
    } catch (error) {
      throw this.#told(error)
    }
  }

  /** @throws the error again where a session was opened a moment ago: then it is not the session that is lost. */
  async #reopen(used: ChatUpstream, error: unknown): Promise<void> {
    if (this.#current !== used) return
    if (this.#closing.signal.aborted) throw closed(this.name, error)
    const { reopenAfterMs = 30_000 } = this.#options
    if (this.#reopening === null && performance.now() - this.#openedAt < reopenAfterMs) throw this.#told(error)
    this.#reopening ??= this.#replace(used).finally(() => {
      this.#reopening = null
    })
    await this.#reopening
  }

  async #replace(used: ChatUpstream): Promise<void> {
    const opening = new AbortController()
    const end = () => opening.abort()
    this.#closing.signal.addEventListener('abort', end, { once: true })
    try {
      this.#current = upstreamOver(await this.#options.open(opening.signal), this.#options)
    } catch (error) {
      const told = this.#told(error)
      throw isUpstreamFailure(told) ? told : failed(this.name, error)
    } finally {
      this.#closing.signal.removeEventListener('abort', end)
    }
    this.#openedAt = performance.now()
    const closing = setTimeout(() => {
      this.#lost.delete(used)
      void used.close().catch(() => {})
    }, this.#options.answerTimeoutMs)
    this.#lost.set(used, closing.unref())
  }

  /** An error of the server in the words of upstreams, which say whether asking again, or another upstream, may help. */
  #told(error: unknown): unknown {
    const cause = tinkerCause(error)
    if (cause === null || (isUpstreamFailure(error) && error.code !== 'model/upstream-failed')) return error
    const { message, hint, code, status } = cause
    const about = { upstream: this.name, message, hint, cause, ...(status !== null && { status }) }
    if (code === 'model/tinker-unreachable')
      return new UpstreamError({ ...about, code: 'model/upstream-unreachable', kind: 'unreachable' })
    if (code === 'model/tinker-timeout') return this.#late(error)
    return new UpstreamError({ ...about, code: 'model/upstream-failed', kind: 'broken' })
  }

  #late(cause: unknown): UpstreamError {
    return new UpstreamError({
      code: 'model/upstream-timeout',
      kind: 'timeout',
      upstream: this.name,
      message: `The upstream ${this.name} did not answer within ${this.#options.answerTimeoutMs} ms.`,
      hint: 'Look whether its server works on other requests; firstByteTimeoutMs of the upstream is how long it may take.',
      cause,
    })
  }
}

/** The server's own error, behind whatever was made of it. */
function tinkerCause(error: unknown): TinkerError | null {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof TinkerError) return one
  return null
}

/** What a server can do only in a session that it knows. Weights that it has lost are met by other requests before. */
const ofSession: ReadonlySet<string | null> = new Set(['asample', 'create_sampling_session', 'create_model'])

/** Whether the server does not know the session any more. */
function isLost(error: unknown): boolean {
  const { status = null, request = null } = tinkerCause(error) ?? {}
  return (status === 404 || status === 410) && ofSession.has(request)
}
