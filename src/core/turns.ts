/** Work of at most this weight is done at once: it takes a few milliseconds. */
const light = 256 * 1024
/** What a value weighs beside its bytes. */
const bytesOfValue = 100

/** About how much work a part of a request is, in bytes of text. */
export const weightOf = (bytes: number, values: number): number => bytes + bytesOfValue * values

/**
 * Large work is done in parts, one part in a turn of the event loop, whoever it is for: between two parts everybody else is
 * served, and many large requests at once keep the loop no longer than one.
 */
class Turns {
  readonly #waiting: (() => void)[] = []

  /**
   * What to wait for before the next part of work; `null` where that is light enough to be done at once.
   * @param weight of the next part: see {@link weightOf}.
   */
  next(weight: number): Promise<void> | null {
    if (weight <= light) return null
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) this.#schedule()
    })
  }

  #schedule(): void {
    setImmediate(() => {
      const [resolve] = this.#waiting
      resolve?.()
      // What waits after it has a turn of its own: what was resolved runs before the next one.
      this.#waiting.shift()
      if (this.#waiting.length > 0) this.#schedule()
    })
  }
}

/** Work that is done one at a time, first come, first served. */
export class OneAtATime {
  #last: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work)
    this.#last = next.catch(() => {})
    return next
  }
}

/** Those of this process, which has one event loop. */
export const turns = new Turns()
