/**
 * Who works beside whom. Work is done at once with other work, except what is done alone: it waits until all before it has
 * ended, and all behind it waits for its end.
 */
export class Turns {
  /** Ends when the last work that was alone has. */
  #alone: Promise<unknown> = Promise.resolve()
  /** What is done beside other work since then. */
  #beside = new Set<Promise<unknown>>()

  /** Does work in its turn. @param alone whether nothing else may be under way. */
  do<T>(work: () => Promise<T>, alone: boolean): Promise<T> {
    return alone ? this.#doAlone(work) : this.#doBeside(work)
  }

  #doAlone<T>(work: () => Promise<T>): Promise<T> {
    const before = [this.#alone, ...this.#beside]
    const result = Promise.all(before).then(work)
    this.#alone = ended(result)
    this.#beside = new Set()
    return result
  }

  #doBeside<T>(work: () => Promise<T>): Promise<T> {
    const beside = this.#beside
    const result = this.#alone.then(work)
    const over: Promise<unknown> = ended(result).then(() => beside.delete(over))
    beside.add(over)
    return result
  }
}

const ended = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => {},
    () => {},
  )
