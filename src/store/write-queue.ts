import type { Kysely } from 'kysely'
import type { Work } from './access.ts'
import type { Tables } from './tables.ts'

interface Entry {
  readonly work: Work<unknown>
  /** True for a transaction of its own. */
  readonly alone: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** Writes that share one commit at most: bounds how long the event loop waits for one transaction. */
const batchLimit = 256

/**
 * The one way to write, in order of arrival. Group commit: all writes that one turn of the event loop asks for share
 * one transaction, so that many callers pay for one fsync, and each is answered after the commit.
 */
export class WriteQueue {
  readonly #db: Kysely<Tables>
  #waiting: Entry[] = []
  #drained: Promise<void> | null = null

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Writes together with whatever else is asked for in this turn. `work` may run twice: its first run rolled back. */
  together<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(work, false)
  }

  /** Writes in a transaction of its own. `work` runs once. */
  alone<T>(work: Work<T>): Promise<T> {
    return this.#enqueue(work, true)
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#drained
  }

  #enqueue<T>(work: Work<T>, alone: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, alone, resolve: (result) => resolve(result as T), reject })
      this.#drained ??= this.#drain()
    })
  }

  async #drain(): Promise<void> {
    await nextTurn()
    while (this.#waiting.length > 0) {
      await this.#commit(this.#nextBatch())
      await nextTurn()
    }
    this.#drained = null
  }

  #nextBatch(): readonly Entry[] {
    const end = this.#waiting.findIndex((entry, index) => entry.alone || index === batchLimit)
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : Math.max(end, 1))
  }

  /** Commits a batch. When one of it fails, all is rolled back and each is tried by itself: it must not fail the others. */
  async #commit(batch: readonly Entry[]): Promise<void> {
    try {
      const results = await this.#db.transaction().execute(async (tx) => {
        const results: unknown[] = []
        for (const { work } of batch) results.push(await work(tx))
        return results
      })
      for (const [index, entry] of batch.entries()) entry.resolve(results[index])
    } catch (error) {
      const [only] = batch
      if (batch.length === 1) only?.reject(error)
      else for (const entry of batch) await this.#commit([entry])
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
