import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { PoolClient } from 'pg'
import { InvariantError } from '../errors/index.ts'
import { ConnectionLostError, type StoreError, TimedOutError, UnknownOutcomeError } from './errors/index.ts'
import { queryErrorOf } from './postgres-error.ts'
import type { ConnectionPool } from './postgres-pool.ts'
import { encodeText } from './postgres-text.ts'

/** Tries of a first statement that finds its connection dead: a server that restarted may leave as many as a pool has. */
const firstTries = 5

/** Statements that are prepared once for each connection, which saves the server a third of its work: these are short. */
const preparedStatements = 200
const preparedCharacters = 4_000
const prepared = new Map<string, string>()

/** The name that a statement is prepared under; `undefined` for one that is made anew each time. */
function preparedName(sql: string): string | undefined {
  const known = prepared.get(sql)
  if (known !== undefined || prepared.size >= preparedStatements || sql.length > preparedCharacters) return known
  const name = `ratchet_${prepared.size}`
  prepared.set(sql, name)
  return name
}

/**
 * One connection of a pool for as long as somebody uses it, one statement at a time; every failure leaves it as a
 * StoreError. All writes are in transactions: so the first statement changes nothing, and is sent again through another
 * connection when this one turns out to be dead.
 */
export class PostgresConnection implements DatabaseConnection {
  readonly #pool: ConnectionPool
  #client: PoolClient | null = null
  #latest: Promise<unknown> = Promise.resolve()
  #used = false
  #broken = false
  /** The first failure of a transaction: what fails after it fails for it. */
  #failure: StoreError | null = null

  constructor(pool: ConnectionPool) {
    this.#pool = pool
  }

  /** Takes a connection out of the pool. */
  async connect(): Promise<void> {
    this.#client = await this.#pool.connect()
    this.#broken = false
    this.#failure = null
  }

  executeQuery<R>({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): Promise<QueryResult<R>> {
    const result = this.#execute<R>(sql, parameters)
    this.#latest = result.catch(() => {})
    return result
  }

  /**
   * Ends a transaction for good.
   * @throws the first failure of any of its statements, caught or not: nothing was written.
   * @throws UnknownOutcomeError when the connection broke before the answer came.
   */
  async commit(): Promise<void> {
    // Also of one that nobody waits for. The server would answer the commit with a rollback, which is no error to it.
    await this.#latest
    if (this.#failure) throw this.#failure
    try {
      await this.executeQuery({ sql: 'commit', parameters: [] })
    } catch (error) {
      const silent = error instanceof ConnectionLostError || error instanceof TimedOutError
      throw silent ? new UnknownOutcomeError(this.#pool.name, error) : error
    }
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new InvariantError('The store does not stream rows.')
  }

  /** Gives the connection back, or up, when it is broken or in the middle of something. */
  release(): void {
    this.#client?.release(this.#broken || this.#client.getTransactionStatus() !== 'I')
    this.#client = null
  }

  async #execute<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    for (let tries = this.#used ? firstTries : 1; ; tries++) {
      this.#used = true
      try {
        return await this.#send<R>(sql, parameters)
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || tries >= firstTries) throw error
      }
      this.release()
      await this.connect()
    }
  }

  async #send<R>(sql: string, parameters: readonly unknown[]): Promise<QueryResult<R>> {
    if (!this.#client || this.#broken) throw new ConnectionLostError(this.#pool.name, 'it broke before', this.#failure)
    const values = parameters.map((value) => (typeof value === 'string' ? encodeText(value) : value))
    const name = this.#pool.session && values.length > 0 ? preparedName(sql) : undefined
    try {
      const { command, rowCount, rows } = await this.#client.query({ text: sql, values, ...(name && { name }) })
      const changes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
      return { rows: rows ?? [], ...(changes && { numAffectedRows: BigInt(rowCount ?? 0) }) }
    } catch (cause) {
      const error = queryErrorOf(cause, this.#pool.name)
      this.#broken ||= error instanceof ConnectionLostError || error instanceof TimedOutError
      throw (this.#failure ??= error)
    }
  }
}
