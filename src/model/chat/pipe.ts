/**
 * Carries items from whoever makes them to one who reads them. What was put in is read before the end, or the failure,
 * that followed it. A reader who leaves early is told to the maker.
 */
export class Pipe<T extends object> implements AsyncIterableIterator<T> {
  readonly #leave: () => void
  #items: T[] = []
  #state: 'open' | 'ended' | 'left' | { readonly failure: unknown } = 'open'
  #news: () => void = () => {}

  /** @param leave called when the reader leaves before the end. */
  constructor(leave: () => void) {
    this.#leave = leave
  }

  put(item: T): void {
    if (this.#state !== 'open') return
    this.#items.push(item)
    this.#news()
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended'
    this.#news()
  }

  fail(failure: unknown): void {
    if (this.#state === 'open') this.#state = { failure }
    this.#news()
  }

  /** Resolves when there is something to read, or the end. @throws what it failed with, when nothing came before. */
  async begun(): Promise<void> {
    while (this.#items.length === 0 && this.#state === 'open') {
      await new Promise<void>((resolve) => (this.#news = resolve))
    }
    if (this.#items.length === 0 && typeof this.#state === 'object') {
      const { failure } = this.#state
      this.#state = 'ended'
      throw failure
    }
  }

  /** One at a time. */
  async next(): Promise<IteratorResult<T>> {
    await this.begun()
    const value = this.#items.shift()
    return value === undefined ? { done: true, value } : { done: false, value }
  }

  return(): Promise<IteratorResult<T>> {
    if (this.#state === 'open') this.#leave()
    this.#state = 'left'
    this.#items = []
    this.#news()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
