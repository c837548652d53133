import { setTimeout as delay } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Work } from './access.ts'
import { ConnectionLostError, ContentionError, UnavailableStoreError } from './errors/index.ts'
import type { Tables } from './tables.ts'

interface Entry {
  readonly work: Work<unknown>
  /** What runs in the place of a transaction; `null` for a write. */
  readonly between: (() => unknown) | null
  /** See `Access.write`; empty for none. */
  readonly touches: string
  /** True for a transaction of its own. */
  readonly alone: boolean
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** How writes are committed. */
export interface WriteQueueOptions {
  /** Transactions under way at once; 1 where the database takes one at a time. */
  readonly lanes?: number
  /** Writes that share one commit at most: bounds how long the others of a transaction wait for the last one. */
  readonly batch?: number
  /** Runs at the start of a transaction of its own. */
  readonly isolate?: Work<void>
}

/** Tries of a batch that other transactions, or a broken connection, were in the way of. */
const tries = 4
/** Before the second try; doubles, and is drawn at random, so that two in each other's way part. */
const backoffMilliseconds = 20

/**
 * The one way to write. Group commit: all writes that one turn of the event loop asks for share one transaction, so that
 * many callers pay for one fsync, and each is answered after the commit.
 *
 * A transaction of its own comes after everything that was asked for before it, and before everything after it. Other
 * writes are in the order of arrival with one lane; with several, a write that has to follow another one is asked for
 * when that one was answered.
 */
export class WriteQueue {
  readonly #db: Kysely<Tables>
  readonly #lanes: number
  readonly #batch: number
  readonly #isolate: Work<void> | undefined
  #waiting: Entry[] = []
  #running = 0
  #alone = false
  #scheduled = false
  #idle: (() => void)[] = []

  constructor(db: Kysely<Tables>, { lanes = 1, batch = 256, isolate }: WriteQueueOptions = {}) {
    this.#db = db
    this.#lanes = lanes
    this.#batch = batch
    this.#isolate = isolate
  }

  /** Writes together with whatever else is asked for in this turn. `work` may run again: what it did was rolled back. */
  together<T>(work: Work<T>, touches = ''): Promise<T> {
    return this.#enqueue({ work, touches, alone: false, between: null })
  }

  /** Writes in a transaction of its own. `work` runs once. */
  alone<T>(work: Work<T>): Promise<T> {
    return this.#enqueue({ work, touches: '', alone: true, between: null })
  }

  /** Runs something while no transaction is open, in its turn. */
  between<T>(run: () => T): Promise<T> {
    return this.#enqueue({ work: async () => run(), touches: '', alone: true, between: run })
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    if (this.#running === 0 && this.#waiting.length === 0) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #enqueue<T>(entry: Pick<Entry, 'touches' | 'alone' | 'between'> & { readonly work: Work<T> }): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ ...entry, resolve: (result) => resolve(result as T), reject })
      this.#startNextTurn()
    })
  }

  #startNextTurn(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      while (this.#mayStart()) void this.#run(this.#nextBatch())
      if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve()
    })
  }

  #mayStart(): boolean {
    const [next] = this.#waiting
    if (!next || this.#alone) return false
    return next.alone ? this.#running === 0 : this.#running < this.#lanes
  }

  /** A fair share for each free lane, or one that stands alone. */
  #nextBatch(): readonly Entry[] {
    const alone = this.#waiting.findIndex((entry) => entry.alone)
    const together = alone === -1 ? this.#waiting.length : alone
    const share = Math.ceil(together / (this.#lanes - this.#running))
    const batch = this.#waiting.splice(0, Math.max(Math.min(share, this.#batch), 1))
    return this.#lanes === 1
      ? batch
      : batch.toSorted((a, b) => (a.touches === b.touches ? 0 : a.touches < b.touches ? -1 : 1))
  }

  async #run(batch: readonly Entry[]): Promise<void> {
    const [first] = batch
    this.#running += 1
    this.#alone = first?.alone ?? false
    if (first?.between) runNow(first, first.between)
    else await this.#commit(batch)
    this.#running -= 1
    this.#alone = false
    this.#startNextTurn()
  }

  /** Commits a batch and answers. When one of it fails, all is rolled back, and committed again without the one. */
  async #commit(batch: readonly Entry[]): Promise<void> {
    const attempt = await this.#attempt(batch)
    if ('results' in attempt) {
      for (const [index, entry] of batch.entries()) entry.resolve(attempt.results[index])
    } else if (batch.length === 1 || attempt.error instanceof UnavailableStoreError) {
      for (const entry of batch) entry.reject(attempt.error)
    } else {
      for (const part of around(batch, attempt.failed)) await this.#commit(part)
    }
  }

  async #attempt(batch: readonly Entry[]): Promise<Attempt> {
    const at: { entry: number | null } = { entry: null }
    let begun = false
    const work = async (tx: Kysely<Tables>) => {
      if (this.#alone) await this.#isolate?.(tx)
      const results: unknown[] = []
      for (const [index, entry] of batch.entries()) {
        at.entry = index
        begun = this.#alone
        results.push(await entry.work(tx))
      }
      at.entry = null
      return results
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return { results: await this.#db.transaction().execute(work) }
      } catch (error) {
        const passing = error instanceof ContentionError || error instanceof ConnectionLostError
        if (!passing || begun || attempt === tries) return { error, failed: at.entry }
      }
      await delay(backoffMilliseconds * 2 ** attempt * Math.random())
    }
  }
}

function runNow(entry: Entry, run: () => unknown): void {
  try {
    entry.resolve(run())
  } catch (error) {
    entry.reject(error)
  }
}

type Attempt = { readonly results: readonly unknown[] } | { readonly error: unknown; readonly failed: number | null }

/** What is before the one that failed, it, and what is after; halves where it is not known. */
function around<T>(batch: readonly T[], failed: number | null): readonly (readonly T[])[] {
  const cuts = failed === null ? [Math.ceil(batch.length / 2)] : [failed, failed + 1]
  const parts = [0, ...cuts].map((from, i) => batch.slice(from, cuts[i]))
  return parts.filter(({ length }) => length > 0)
}
