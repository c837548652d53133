import type { BlobHash, ChatCall, ChatUpstream, ModelService } from '../../core/index.ts'
import { chatUpstream } from '../chat/index.ts'
import { cancelled } from '../chat/failures.ts'
import { isUpstreamFailure, type UpstreamError } from '../http/upstream-error.ts'
import { inWordsOfUpstreams, isLost, late } from './upstream-failures.ts'
import { UpstreamSession } from './upstream-session.ts'

export interface TinkerUpstreamOptions {
  /** For records, metrics and people. */
  readonly name: string
  /** Opens a session at the server, unless the signal fires. It is asked again where there is none, or the server has lost it. */
  readonly open: (signal: AbortSignal) => Promise<ModelService>
  /** Which model that will be. Asked where the first session cannot be opened. */
  readonly base: () => Promise<Pick<ModelService, 'base' | 'baseHash'>>
  /** The bytes of adapters that are kept here, by their hash; others are at the server. */
  readonly adapterBytes: (hash: BlobHash) => Promise<Uint8Array>
  /** Adapters that are held at once. */
  readonly mostAdapters: number
  /** A request that has no answer within this time is given up, and so is preparing. In milliseconds. */
  readonly answerTimeoutMs: number
  /** Opening that has no end within this time is given up. In milliseconds. Default 30,000. */
  readonly openTimeoutMs?: number
  /** A session is not opened anew sooner after the last, or after the last try. In milliseconds. Default 30,000. */
  readonly reopenAfterMs?: number
  /** Where the last opening failed, a request waits so long for the next, which goes on. In milliseconds. Default 1,000. */
  readonly openingWaitMs?: number
  /** Told why a session could not be opened, once while that stays the same; and `null` as soon as one is open again. */
  readonly onOpening?: (problem: UpstreamError | null) => void
}

/**
 * A model at a Tinker server as an upstream. Its session lasts as long as the upstream: one that the server has lost (it
 * restarted, or heard nothing for minutes) is opened anew, and the request that met that is asked again, once. Where the
 * server is down, late or busy at the start, requests fail until a later one opens a session.
 * @throws what opening throws, where the next time would go no better; and what `base` throws.
 */
export async function tinkerUpstream(options: TinkerUpstreamOptions): Promise<ChatUpstream> {
  const { name, open, adapterBytes, mostAdapters, answerTimeoutMs, base } = options
  const { openTimeoutMs = 30_000, reopenAfterMs = 30_000, openingWaitMs = 1_000, onOpening = () => {} } = options
  const session = new UpstreamSession({
    name,
    open: async (signal) =>
      chatUpstream({ name, service: await open(signal), adapterBytes, mostAdapters, ownsService: true }),
    openTimeoutMs,
    reopenAfterMs,
    openingWaitMs,
    answerTimeoutMs,
    onOpening,
  })
  await session.begin()
  const weights = session.current?.weights('') ?? { kind: 'weights', ...(await base()), adapter: null }
  return new TinkerUpstream({ name, answerTimeoutMs, weights }, session)
}

interface Settings {
  readonly name: string
  readonly answerTimeoutMs: number
  /** Those of the model before a session is open. */
  readonly weights: ReturnType<ChatUpstream['weights']>
}

class TinkerUpstream implements ChatUpstream {
  readonly tellsTokens = true
  readonly servesAdapters = true
  readonly #settings: Settings
  readonly #session: UpstreamSession

  constructor(settings: Settings, session: UpstreamSession) {
    this.#settings = settings
    this.#session = session
  }

  get name(): string {
    return this.#settings.name
  }

  /** The base needs nothing, so it is ready without a session, too. */
  async prepare(...[model, weights]: Parameters<ChatUpstream['prepare']>): Promise<void> {
    if (weights.adapter === null && this.#session.current === null) return
    await this.#inTime(null, (upstream) => upstream.prepare(model, weights))
  }

  weights(...asked: Parameters<ChatUpstream['weights']>): ReturnType<ChatUpstream['weights']> {
    return this.#session.current?.weights(...asked) ?? this.#settings.weights
  }

  models(call: Parameters<ChatUpstream['models']>[0]): ReturnType<ChatUpstream['models']> {
    return this.#inTime(call.signal, (upstream, signal) => upstream.models({ ...call, signal }))
  }

  chat(call: ChatCall): ReturnType<ChatUpstream['chat']> {
    return this.#inTime(call.signal, (upstream, signal) => upstream.chat({ ...call, signal }))
  }

  embeddings(call: Parameters<ChatUpstream['embeddings']>[0]): ReturnType<ChatUpstream['embeddings']> {
    return this.#inTime(call.signal, (upstream, signal) => upstream.embeddings({ ...call, signal }))
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  /** Also opening a session and loading weights, which know of no signal, are not waited for longer. */
  async #inTime<T>(leaving: AbortSignal | null, work: Work<T>): Promise<T> {
    const { answerTimeoutMs } = this.#settings
    const timeout = AbortSignal.timeout(answerTimeoutMs)
    const signal = leaving ? AbortSignal.any([leaving, timeout]) : timeout
    const gone = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(cancelled(this.name)), { once: true })
    })
    try {
      return await Promise.race([this.#again(signal, work), gone])
    } catch (error) {
      const isLate =
        timeout.aborted && leaving?.aborted !== true && isUpstreamFailure(error) && error.kind === 'cancelled'
      throw isLate ? late(this.name, answerTimeoutMs, error) : error
    }
  }

  async #again<T>(signal: AbortSignal, work: Work<T>): Promise<T> {
    const used = this.#session.current ?? (await this.#session.renewed(null))
    let renewed: ChatUpstream
    try {
      return await work(used, signal)
    } catch (error) {
      if (!isLost(error)) throw this.#told(error)
      renewed = await this.#session.renewed(used, error)
    }
    try {
      return await work(renewed, signal)
    } catch (error) {
      throw this.#told(error)
    }
  }

  #told(error: unknown): unknown {
    return inWordsOfUpstreams(this.name, this.#settings.answerTimeoutMs, error)
  }
}

/** What is done in a session, until the signal fires. */
type Work<T> = (upstream: ChatUpstream, signal: AbortSignal) => Promise<T>
