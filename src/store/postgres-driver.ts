import { type Driver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { postgresSchema } from './engine.ts'
import { PostgresConnection } from './postgres-connection.ts'
import type { ConnectionPool } from './postgres-pool.ts'

/**
 * The query builder over a pool; `destroy` ends the pool.
 * @param begin the statement that begins a transaction.
 */
export function kyselyOverPostgres<Tables>(pool: ConnectionPool, begin: string): Kysely<Tables> {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new PostgresDriver(pool, begin),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  // Named in every statement: a connection's search path does not outlive a statement behind some poolers.
  return db.withSchema(postgresSchema)
}

class PostgresDriver implements Driver {
  readonly #pool: ConnectionPool
  readonly #begin: string

  constructor(pool: ConnectionPool, begin: string) {
    this.#pool = pool
    this.#begin = begin
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    const connection = new PostgresConnection(this.#pool)
    await connection.connect()
    return connection
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    await connection.executeQuery({ sql: this.#begin, parameters: [] })
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    // Where it fails, the connection is given up, and the server rolls back; the error that matters is on its way already.
    try {
      await connection.executeQuery({ sql: 'rollback', parameters: [] })
    } catch {}
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}
