import { Client, DatabaseError, Pool, type PoolClient, types } from 'pg'
import { BadDatabaseUrlError, TooManyConnectionsError } from './errors/index.ts'
import { connectErrorOf } from './postgres-error.ts'
import { decodeText } from './postgres-text.ts'

const seconds = 1_000

/** How long things may take, in milliseconds. The URL may set the server's (`?statement_timeout=…`). */
export const patience = {
  connect: 10 * seconds,
  statement: 60 * seconds,
  lock: 30 * seconds,
  idleTransaction: 60 * seconds,
  /** For an answer, where the server itself may be gone without a word. */
  answer: 75 * seconds,
  /** How long an unused connection is kept. */
  idle: 300 * seconds,
  /** How long a pool makes do with the connections that it has, after the server had no more. */
  crowded: 30 * seconds,
} as const

/** Parsers of the types that the store's columns have, for this pool only. Numbers fit: the store writes safe integers. */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [types.builtins.INT8, Number],
  [types.builtins.NUMERIC, Number],
  [types.builtins.TEXT, decodeText],
])

/**
 * How messages name a database: without its password, and without parameters, which may hold secrets too.
 * @throws BadDatabaseUrlError which does not repeat the URL.
 */
export function databaseName(url: string): string {
  const [, authority = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/s.exec(url) ?? []
  if (authority === '' && rest === '') throw new BadDatabaseUrlError('it does not begin with postgresql://')
  // A password with one of `/?#` in it ends the host's part early: the rest of it would be taken for host or database.
  if (rest.includes('@')) throw new BadDatabaseUrlError('it has an @ after the host; write it as %40')
  try {
    const { user, host, port, database } = new Client({ connectionString: url })
    return `postgresql://${user ?? ''}@${host}:${port}/${database ?? ''}`
  } catch {
    throw new BadDatabaseUrlError('it is not a URL, or a file that it names cannot be read')
  }
}

/** Connections of one purpose to one database. */
export interface PoolSettings {
  readonly url: string
  /** For messages, see {@link databaseName}. */
  readonly name: string
  readonly connections: number
  /** False behind a pooler (PgBouncer) whose connections have no session: no settings, no prepared statements. */
  readonly session: boolean
}

/** Connections that are made when they are needed, and made again when they break. */
export interface ConnectionPool extends Pick<PoolSettings, 'name' | 'session'> {
  /** @throws StoreError when there is none to be had. */
  connect(): Promise<PoolClient>
  /** Resolves when all that were in use were given back. */
  end(): Promise<void>
}

export function openPool({ url, name, connections, session }: PoolSettings): ConnectionPool {
  type Id = Parameters<typeof types.getTypeParser>[0]
  const getTypeParser = (id: Id, format?: 'text') => parsers.get(id) ?? types.getTypeParser(id, format)
  const pool = new Pool({
    connectionString: url,
    max: connections,
    types: { getTypeParser: getTypeParser as typeof types.getTypeParser },
    fallback_application_name: 'ratchet',
    connectionTimeoutMillis: patience.connect,
    idleTimeoutMillis: patience.idle,
    query_timeout: patience.answer,
    ...(session && {
      statement_timeout: patience.statement,
      lock_timeout: patience.lock,
      idle_in_transaction_session_timeout: patience.idleTransaction,
    }),
    keepAlive: true,
    allowExitOnIdle: true,
  })
  let open = 0
  // A connection may die at any time. In use, its statement says so; unused, the pool forgets it.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    open += 1
    client.on('error', () => {})
  })
  pool.on('remove', () => {
    open -= 1
  })

  const connect = async (again: boolean): Promise<PoolClient> => {
    try {
      return await pool.connect()
    } catch (cause) {
      const error = connectErrorOf(cause, name)
      const refused = error instanceof TooManyConnectionsError && cause instanceof DatabaseError
      if (!refused || open === 0 || !again) throw error
      // The server has no more to give for now: those that there are go round.
      pool.options.max = open
      setTimeout(() => (pool.options.max = connections), patience.crowded).unref()
      return await connect(false)
    }
  }
  return {
    name,
    session,
    connect: () => connect(true),
    end: () => pool.end(),
  }
}
