import type { Kysely } from 'kysely'
import type { Remains } from '../core/index.ts'
import type { Tables } from './tables.ts'

/** A piece of work on the database. Asked to run again after a rollback, it does the same again. */
export type Work<T> = (db: Kysely<Tables>) => Promise<T>

/** How a repository reaches the database: straight, or inside a transaction. */
export interface Access {
  /** Sees what is committed; inside a transaction, also what the transaction wrote. */
  readonly read: <T>(work: Work<T>) => Promise<T>
  /**
   * Atomic; resolves when committed, or inside a transaction when written.
   * @param touches names the first thing that it writes to and others write to at the same time, if there is one. Writes
   * of one transaction are done in the order of these names, so that no two transactions wait for each other.
   */
  readonly write: <T>(work: Work<T>, touches?: string) => Promise<T>
  /** At the start of a `write`: waits for every write of a call that began before, in other processes too. */
  readonly settle: Work<void>
  /** Takes what was removed out of the database's own files, and says where its bytes still are. */
  readonly sweep: () => Promise<Remains>
}
