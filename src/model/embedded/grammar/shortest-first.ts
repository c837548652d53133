/** Work that is done one after the other: of what waits, the shortest first, and of equals the one that came first. */
export class ShortestFirst {
  readonly #waiting: { readonly length: number; readonly start: () => void }[] = []
  #busy = false

  async run<T>(length: number, work: () => Promise<T>): Promise<T> {
    if (this.#busy) await this.#turn(length)
    this.#busy = true
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      // Whoever is next begins later than now: nobody may come between.
      if (next) next.start()
      else this.#busy = false
    }
  }

  #turn(length: number): Promise<void> {
    const place = this.#waiting.findIndex((other) => other.length > length)
    return new Promise((start) => {
      this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, { length, start })
    })
  }
}
