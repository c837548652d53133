import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { cancelled, cut, malformed, timedOut, tooLarge, unreachable } from './failures.ts'
import type { UpstreamError } from './upstream-error.ts'

/** Who reads an answer's body. One of `end` and `fail` is called, once, last. */
export interface BodyReader {
  data(bytes: Buffer): void
  end(): void
  fail(error: UpstreamError): void
}

/** An answer whose head has come. */
export interface Incoming {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Hands over what has come and what will. Once. */
  read(reader: BodyReader): void
  /** The answer has begun, in the reader's eyes: from now on time is counted between two pieces. */
  begun(): void
  /** Holds the upstream back while the reader cannot take more; time passes for nobody then. */
  pause(): void
  resume(): void
  /** Ends it now: the upstream sees the connection close. Nothing more is told to the reader. */
  cancel(): void
  /** The answer is complete for the reader: what still comes is thrown away, for a moment, to keep the connection. */
  drain(): void
}

export interface ExchangeLimits {
  readonly upstream: string
  /** From the request until the answer begins (keep-alives are no beginning), and between two pieces, in milliseconds. */
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Of the body. */
  readonly maxAnswerBytes: number
}

/** Told once, of the answer's head or of what came in its place. */
export interface HeadReader {
  resolve(incoming: Incoming): void
  reject(error: UpstreamError): void
}

const nobody: BodyReader = { data: () => {}, end: () => {}, fail: () => {} }

/** How long the end of an answer may take that is complete already. */
const drainMs = 1_000

/** One request and its answer on the wire: watches time, size and the caller's signal. */
export class Exchange implements Dispatcher.DispatchHandler, Incoming {
  readonly #limits: ExchangeLimits
  readonly #signal: AbortSignal
  readonly #onAbort = (): void => this.#fail(cancelled(this.#limits.upstream))
  readonly #head: HeadReader
  #controller: Dispatcher.DispatchController | null = null
  #state: 'asked' | 'answered' | 'over' = 'asked'
  #timer: NodeJS.Timeout | null = null
  #lastLook: NodeJS.Immediate | null = null
  #bytes = 0
  #begun = false
  #reader: BodyReader | null = null
  /** What came before there was a reader. */
  #held: Buffer[] = []
  #outcome: UpstreamError | 'end' | null = null

  status = 0
  headers: IncomingHttpHeaders = {}

  constructor(limits: ExchangeLimits, signal: AbortSignal, head: HeadReader) {
    this.#limits = limits
    this.#signal = signal
    this.#head = head
    signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#startTimer('begin', limits.firstByteTimeoutMs)
  }

  read(reader: BodyReader): void {
    this.#reader = reader
    const held = this.#held
    this.#held = []
    for (const bytes of held) reader.data(bytes)
    this.#tellOutcome()
  }

  begun(): void {
    if (this.#begun || this.#state === 'over') return
    this.#begun = true
    this.#startTimer('go on', this.#limits.idleTimeoutMs)
  }

  pause(): void {
    if (this.#state === 'over' || this.#controller === null) return
    this.#controller.pause()
    this.#stopTimer()
  }

  resume(): void {
    if (this.#state === 'over' || this.#controller === null) return
    this.#startTimer('go on', this.#limits.idleTimeoutMs)
    // May hand over data before it returns, and that may pause again.
    this.#controller.resume()
  }

  cancel(): void {
    this.#reader = null
    this.#held = []
    this.#fail(cancelled(this.#limits.upstream))
  }

  drain(): void {
    this.#reader = nobody
    if (this.#state === 'over') return
    this.#begun = false
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#stopTimer()
    this.#controller?.resume()
    this.#timer = setTimeout(() => this.cancel(), drainMs)
    this.#timer.unref()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#state === 'over') controller.abort(cancelled(this.#limits.upstream))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.#state !== 'asked') return
    this.#state = 'answered'
    this.status = status
    this.headers = headers
    this.#head.resolve(this)
    if (Number(headers['content-length']) > this.#limits.maxAnswerBytes) this.#failTooLarge()
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#state === 'over') return
    if (this.#begun) this.#refreshTimer()
    this.#bytes += bytes.length
    if (this.#bytes > this.#limits.maxAnswerBytes) return this.#failTooLarge()
    if (this.#reader) this.#reader.data(bytes)
    else this.#held.push(bytes)
  }

  onResponseEnd(): void {
    if (this.#state === 'over') return
    this.#close()
    this.#outcome = 'end'
    this.#tellOutcome()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const { upstream } = this.#limits
    const asked = this.#state === 'asked'
    if (isClosed(error)) this.#fail(cancelled(upstream))
    // Such an error holds what was sent: it is no cause to keep.
    else if (!isHttp(error)) this.#fail(asked ? malformed(upstream, 'something that is not HTTP') : cut(upstream))
    else this.#fail(asked ? unreachable(upstream, error) : cut(upstream, error))
  }

  #failTooLarge(): void {
    this.#fail(tooLarge(this.#limits.upstream, 'answer', this.#limits.maxAnswerBytes))
  }

  #fail(error: UpstreamError): void {
    if (this.#state === 'over') return
    const asked = this.#state === 'asked'
    this.#close()
    this.#outcome = error
    this.#controller?.abort(error)
    if (asked) this.#head.reject(error)
    else this.#tellOutcome()
  }

  #tellOutcome(): void {
    const reader = this.#reader
    if (reader === null || this.#outcome === null) return
    this.#reader = null
    if (this.#outcome === 'end') reader.end()
    else reader.fail(this.#outcome)
  }

  #close(): void {
    this.#state = 'over'
    this.#stopTimer()
    this.#signal.removeEventListener('abort', this.#onAbort)
  }

  /** A process that stood still comes to its timers before it reads what arrived meanwhile: that is read first. */
  #startTimer(what: 'begin' | 'go on', ms: number): void {
    this.#stopTimer()
    this.#timer = setTimeout(() => {
      this.#lastLook = setImmediate(() => this.#fail(timedOut(this.#limits.upstream, what, ms)))
    }, ms)
  }

  #refreshTimer(): void {
    if (this.#lastLook) clearImmediate(this.#lastLook)
    this.#timer?.refresh()
  }

  #stopTimer(): void {
    if (this.#lastLook) clearImmediate(this.#lastLook)
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }
}

/** The pool was closed by us. */
const isClosed = ({ code }: NodeJS.ErrnoException): boolean => code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED'

/** Whether the failure is one of the connection, not of what came over it. */
const isHttp = ({ name, code }: NodeJS.ErrnoException): boolean =>
  name !== 'HTTPParserError' && code !== 'UND_ERR_HEADERS_OVERFLOW'
