import type { ChatUpstream } from '../../core/index.ts'
import { closed } from '../chat/failures.ts'
import type { UpstreamError } from '../http/upstream-error.ts'
import { inWordsOfUpstreams, isPassing, notOpened, openedTooLate } from './upstream-failures.ts'

export interface UpstreamSessionOptions {
  readonly name: string
  /** Opens a session, unless the signal fires. */
  readonly open: (signal: AbortSignal) => Promise<ChatUpstream>
  readonly openTimeoutMs: number
  readonly reopenAfterMs: number
  /** For so long a request waits for an opening, where the last one failed. */
  readonly openingWaitMs: number
  /** For so long a session that was lost may have answers under way. */
  readonly answerTimeoutMs: number
  readonly onOpening: (problem: UpstreamError | null) => void
}

/** The session of an upstream at its server: opened at the start where that is possible, and anew where none is there. */
export class UpstreamSession {
  readonly #options: UpstreamSessionOptions
  #current: ChatUpstream | null = null
  #opening: Promise<ChatUpstream> | null = null
  /** Why there is none, or why the one that was lost is not replaced. */
  #problem: UpstreamError | null = null
  #triedAt = -Infinity
  /** Ends an opening. */
  readonly #closing = new AbortController()
  /** Sessions that are lost, until what is under way in them has ended. */
  readonly #lost = new Map<ChatUpstream, NodeJS.Timeout>()

  constructor(options: UpstreamSessionOptions) {
    this.#options = options
  }

  /** `null`: none was opened yet. */
  get current(): ChatUpstream | null {
    return this.#current
  }

  /**
   * Opens the first session. A server that is down, late or busy is left for later.
   * @throws what opening throws, where the next time would go no better.
   */
  async begin(): Promise<void> {
    try {
      await this.#open()
    } catch (error) {
      if (!isPassing(error)) throw error
      this.#failed(error)
    }
  }

  /**
   * A session in the place of one that is lost, or of none. Where the last opening failed, the next is waited for only
   * briefly, and goes on for later requests.
   * @param lost `null` for none.
   * @param why what told that it is lost: thrown again where one was opened a moment ago, as then it is not the session.
   * @throws UpstreamError
   */
  async renewed(lost: ChatUpstream | null, why: unknown = null): Promise<ChatUpstream> {
    if (this.#current !== null && this.#current !== lost) return this.#current
    const { name, reopenAfterMs, answerTimeoutMs } = this.#options
    if (this.#closing.signal.aborted) throw closed(name, why)
    if (this.#opening === null && performance.now() - this.#triedAt < reopenAfterMs)
      throw inWordsOfUpstreams(name, answerTimeoutMs, why ?? this.#problem)
    this.#opening ??= this.#open()
      .catch((error: unknown) => {
        throw this.#closing.signal.aborted ? closed(name, error) : this.#failed(error)
      })
      .finally(() => {
        this.#opening = null
      })
    return this.#waitedFor(this.#opening)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#opening?.catch(() => {})
    for (const timer of this.#lost.values()) clearTimeout(timer)
    const all = [...(this.#current ? [this.#current] : []), ...this.#lost.keys()]
    await Promise.allSettled(all.map((upstream) => upstream.close()))
  }

  /** @throws the known problem, where there is one and opening takes longer than a request waits for it. */
  async #waitedFor(opening: Promise<ChatUpstream>): Promise<ChatUpstream> {
    const problem = this.#problem
    if (problem === null) return opening
    let timer: NodeJS.Timeout | undefined
    const tooLong = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(problem), this.#options.openingWaitMs)
    })
    try {
      return await Promise.race([opening, tooLong])
    } finally {
      clearTimeout(timer)
    }
  }

  /** The signal ends opening alone: what was opened must outlive it. */
  async #open(): Promise<ChatUpstream> {
    const { name, open, openTimeoutMs, onOpening } = this.#options
    const tooLate = AbortSignal.timeout(openTimeoutMs)
    const ends = AbortSignal.any([tooLate, this.#closing.signal])
    const opening = new AbortController()
    const end = () => opening.abort()
    ends.addEventListener('abort', end)
    try {
      const opened = await open(opening.signal)
      if (this.#current) this.#leave(this.#current)
      this.#current = opened
      if (this.#problem) onOpening(null)
      this.#problem = null
      return opened
    } catch (error) {
      throw tooLate.aborted ? openedTooLate(name, openTimeoutMs, error) : error
    } finally {
      ends.removeEventListener('abort', end)
      this.#triedAt = performance.now()
    }
  }

  /** Tells of a problem, unless one of its sort was told last. */
  #failed(error: unknown): UpstreamError {
    const { name, answerTimeoutMs, onOpening } = this.#options
    const problem = notOpened(name, answerTimeoutMs, error)
    const before = this.#problem
    if (problem.code !== before?.code || problem.status !== before.status) onOpening(problem)
    this.#problem = problem
    return problem
  }

  #leave(lost: ChatUpstream): void {
    const closing = setTimeout(() => {
      this.#lost.delete(lost)
      void lost.close().catch(() => {})
    }, this.#options.answerTimeoutMs)
    this.#lost.set(lost, closing.unref())
  }
}
