/** Who waits for the result of a request. */
export class Listeners {
  readonly #of = new Map<string, Set<() => void>>()

  /** Requests that are waited for. */
  ids(): Iterable<string> {
    return this.#of.keys()
  }

  /** Resolves when the request is told of, when the time is over, or when the one who waits is gone. */
  wait(id: string, withinMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const listeners = this.#of.get(id) ?? new Set()
      this.#of.set(id, listeners.add(done))
      const timer = setTimeout(done, withinMs)
      signal.addEventListener('abort', done, { once: true })
      function done() {
        clearTimeout(timer)
        listeners.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
    })
  }

  tell(id: string): void {
    for (const listener of this.#of.get(id) ?? []) listener()
    this.#of.delete(id)
  }

  tellAll(): void {
    for (const id of this.#of.keys()) this.tell(id)
  }
}
