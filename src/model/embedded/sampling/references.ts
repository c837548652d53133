/** References that an engine issued, what each stands for, and the requests in flight that use it. */
export class References<T> {
  readonly #held = new Map<string, { readonly value: T; readonly users: Set<Promise<unknown>> }>()
  readonly #unknown: (id: string) => Error

  /** @param unknown the error for a reference that was not issued, or is retired. */
  constructor(unknown: (id: string) => Error) {
    this.#unknown = unknown
  }

  add(id: string, value: T): void {
    this.#held.set(id, { value, users: new Set() })
  }

  /** Does what uses a reference: {@link retire} waits for it. */
  async during<R>(id: string, work: (value: T) => Promise<R>): Promise<R> {
    const held = this.#held.get(id)
    if (!held) throw this.#unknown(id)
    const use = work(held.value)
    held.users.add(use)
    try {
      return await use
    } finally {
      held.users.delete(use)
    }
  }

  /** From now on the reference is unknown; resolves when what used it has ended. */
  async retire(id: string): Promise<void> {
    const held = this.#held.get(id)
    if (!held) throw this.#unknown(id)
    this.#held.delete(id)
    await Promise.allSettled(held.users)
  }
}
