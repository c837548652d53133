import type { Kysely } from 'kysely'
import type { Access, Work } from './access.ts'
import type { Tables } from './tables.ts'

/**
 * Reaches the database inside one transaction. A write that fails fails the transaction, caught or not, as PostgreSQL
 * has it: what it had half-written must not commit.
 */
export class TransactionAccess implements Access {
  readonly #db: Kysely<Tables>
  #failure: { readonly error: unknown } | null = null

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  read = <T>(work: Work<T>): Promise<T> => work(this.#db)

  write = async <T>(work: Work<T>): Promise<T> => {
    try {
      return await work(this.#db)
    } catch (error) {
      this.#failure ??= { error }
      throw error
    }
  }

  /** Whoever began before is waited for outside of transactions only. */
  settle = async (): Promise<void> => {}

  /** Nothing is committed yet. */
  sweep = async (): Promise<'log'> => 'log'

  /** @throws the error of the first write that failed, if one did. */
  assertSound(): void {
    if (this.#failure) throw this.#failure.error
  }
}
