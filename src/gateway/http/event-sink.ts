/** Bytes that may wait for a slow reader before its answer waits, too. */
const buffered = 64 * 1024

/**
 * The sending end of a response that is written as it comes. What a reader has not taken yet is bounded: {@link write}
 * says when to wait, and a reader that takes nothing for too long is given up.
 */
export class EventSink {
  readonly readable: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #hasRoom: (() => void) | null = null
  #open = true
  #waiting = ''
  readonly #flush = () => {
    const text = this.#waiting
    this.#waiting = ''
    if (this.#open && text !== '') this.#controller?.enqueue(Buffer.from(text))
  }
  readonly #patienceMs: number
  readonly #gaveUp: (why: 'client-gone' | 'slow-reader') => void
  readonly #sever: (() => void) | null

  /**
   * @param patienceMs how long a reader may take nothing.
   * @param gaveUp told once, when nobody reads any more.
   * @param sever cuts the connection to a reader that is given up; without it, the stream fails.
   */
  constructor(
    patienceMs: number,
    gaveUp: (why: 'client-gone' | 'slow-reader') => void,
    sever: (() => void) | null = null,
  ) {
    this.#patienceMs = patienceMs
    this.#sever = sever
    this.#gaveUp = gaveUp
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => this.wake(),
        cancel: () => this.#giveUp('client-gone'),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: buffered }),
    )
  }

  /** Sends text, unless nobody reads. What is written in one turn of the event loop goes out together, at its end. */
  write(text: string): void {
    if (!this.#open || text === '') return
    if (this.#waiting === '') process.nextTick(this.#flush)
    this.#waiting += text
  }

  /** What to wait for before the next {@link write}; `null` when there is room. */
  room(): Promise<void> | null {
    if (this.#waiting.length >= buffered) this.#flush()
    if (!this.#open || (this.#controller?.desiredSize ?? 1) > 0) return null
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (this.#sever === null) this.#controller?.error(new Error('The reader took nothing for too long.'))
        else this.#sever()
        this.#giveUp('slow-reader')
      }, this.#patienceMs)
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
    this.#flush()
    this.#open = false
    this.#controller?.close()
  }

  #giveUp(why: 'client-gone' | 'slow-reader'): void {
    if (!this.#open) return
    this.#open = false
    this.#gaveUp(why)
    this.wake()
  }
}
