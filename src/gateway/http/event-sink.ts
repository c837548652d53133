import type { ServerResponse } from 'node:http'
import { type Outlet, outletOf } from './outlet.ts'

export interface EventSinkOptions {
  /** The connection's end under Node's server; `null` where there is none. */
  readonly outgoing: ServerResponse | null
  readonly headers: Readonly<Record<string, string>>
  /** How long a reader may take nothing, in milliseconds. */
  readonly patienceMs: number
  /** Told once, when nobody reads any more. */
  readonly gaveUp: (why: 'client-gone' | 'slow-reader') => void
}

/**
 * The sending end of a response that is written as it comes. What a reader has not taken yet is bounded: {@link room}
 * says when to wait, and a reader that takes nothing for too long is given up.
 */
export class EventSink {
  readonly #options: EventSinkOptions
  readonly #outlet: Outlet
  /** Whether the reader has taken what was sent, but for a little. */
  #free = true
  #open = true
  #waiting = ''
  #hasRoom: (() => void) | null = null
  readonly #flush = () => {
    const text = this.#waiting
    this.#waiting = ''
    if (this.#open && text !== '') this.#free = this.#outlet.write(text)
  }

  constructor(options: EventSinkOptions) {
    this.#options = options
    this.#outlet = outletOf(options.outgoing, {
      headers: options.headers,
      onRoom: () => {
        this.#free = true
        this.wake()
      },
      onGone: () => this.#giveUp('client-gone'),
    })
  }

  /** What the route returns. */
  get response(): Response {
    return this.#outlet.response
  }

  /** Sends text, unless nobody reads. What is written in one turn of the event loop goes out together, at its end. */
  write(text: string): void {
    if (!this.#open || text === '') return
    if (this.#waiting === '') process.nextTick(this.#flush)
    this.#waiting += text
  }

  /** What to wait for before the next {@link write}; `null` when there is room. */
  room(): Promise<void> | null {
    if (this.#waiting.length >= mostWaiting) this.#flush()
    if (!this.#open || this.#free) return null
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#outlet.sever()
        this.#giveUp('slow-reader')
      }, this.#options.patienceMs)
      this.#hasRoom = () => {
        this.#hasRoom = null
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Ends the wait for room: there is some, or nothing will be sent any more. */
  wake(): void {
    this.#hasRoom?.()
  }

  /** Nothing more comes. */
  end(): void {
    if (!this.#open) return
    this.#open = false
    this.#outlet.end(this.#waiting)
    this.#waiting = ''
  }

  #giveUp(why: 'client-gone' | 'slow-reader'): void {
    if (!this.#open) return
    this.#open = false
    this.#options.gaveUp(why)
    this.wake()
  }
}

/** Characters that wait for the end of a turn, at most. */
const mostWaiting = 64 * 1024
