/** At most so many at once; the rest wait, first come, first served. */
export class Slots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /**
   * Waits for a slot. The function that comes back gives it up, once.
   * @throws what `gone` makes, when the signal fires first.
   */
  take(signal: AbortSignal, gone: () => Error): Promise<() => void> {
    if (signal.aborted) return Promise.reject(gone())
    if (this.#free > 0) return Promise.resolve(this.#taken())
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve(this.#taken())
      }
      const leave = (): void => {
        this.#waiting.delete(enter)
        reject(gone())
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(enter)
    })
  }

  #taken(): () => void {
    this.#free--
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#free++
      const [next] = this.#waiting
      if (next === undefined) return
      this.#waiting.delete(next)
      next()
    }
  }
}
