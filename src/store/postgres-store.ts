import { type Kysely, sql } from 'kysely'
import { DatabaseError } from 'pg'
import type { Store } from '../core/index.ts'
import { present } from '../errors/index.ts'
import { postgresEngine, postgresSchema } from './engine.ts'
import { DatabaseEncodingError, MissingStoreError } from './errors/index.ts'
import { assertMigrated, migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { postgresBlobs, readOnlyPostgresBlobs } from './postgres-blobs.ts'
import { kyselyOverPostgres } from './postgres-driver.ts'
import { databaseName, openPool, patience } from './postgres-pool.ts'
import { assembleStore } from './store.ts'
import type { Tables } from './tables.ts'
import { WriteQueue } from './write-queue.ts'

/**
 * Transactions of one process at once, and writes of one transaction at most. A statement waits for the network more than
 * the server works on it: measured at 2 ms between them, 8 lanes write 4 to 5 times as much as one.
 */
const lanes = 8
const batch = 64
/** Reads of one process at once, blobs included: apart, so that no dashboard makes a write wait. */
const readers = 4

/** Opens a store in PostgreSQL for writing; any number of processes may. Makes and migrates the tables when need be. */
export async function openPostgres(url: string): Promise<Store> {
  const name = databaseName(url)
  const { session, begin } = await inspect(url, name)
  const open = (connections: number) => kyselyOverPostgres<Tables>(openPool({ url, name, connections, session }), begin)
  const [writer, reader] = [open(lanes), open(readers)]
  const release = async () => {
    await Promise.all([writer.destroy(), reader.destroy()])
  }
  try {
    await migrate({ db: writer, engine: postgresEngine, path: name }, migrations)
  } catch (error) {
    await release()
    throw error
  }
  return assembleStore({
    path: name,
    reader,
    writes: new WriteQueue(writer, { lanes, batch, isolate: postgresEngine.isolate }),
    blobs: postgresBlobs(reader),
    settle: postgresEngine.settle,
    sweep: async () => 'dead-rows',
    release,
  })
}

/** Opens a store in PostgreSQL to look on. Needs no right to write. */
export async function openPostgresReader(url: string): Promise<Store> {
  const name = databaseName(url)
  const { session, begin } = await inspect(url, name)
  const reader = kyselyOverPostgres<Tables>(openPool({ url, name, connections: readers, session }), begin)
  try {
    if ((await postgresEngine.tables(reader)).length === 0)
      throw new MissingStoreError(`${name}, schema ${postgresSchema}`)
    await assertMigrated({ db: reader, engine: postgresEngine, path: name }, migrations)
  } catch (error) {
    await reader.destroy()
    throw error
  }
  return assembleStore({
    path: name,
    reader,
    writes: null,
    blobs: readOnlyPostgresBlobs(reader, name),
    release: () => reader.destroy(),
  })
}

interface Server {
  /** Whether a connection keeps what it is told. Behind a pooler (PgBouncer), it may be another one each time. */
  readonly session: boolean
  /** What begins a transaction. */
  readonly begin: string
}

/**
 * Looks at the server once.
 * @throws StoreError when it cannot be reached, refuses, or holds its text in an encoding that is not Unicode's.
 */
async function inspect(url: string, name: string, session = true): Promise<Server> {
  const pool = openPool({ url, name, connections: 1, session })
  const db = kyselyOverPostgres<Tables>(pool, 'begin')
  try {
    const { encoding, commit } = await settingsOf(db)
    if (encoding !== 'UTF8') throw new DatabaseEncodingError(name, encoding)
    const begin = ['begin']
    if (!session) begin.push(...localTimeouts)
    // An acknowledged write is on the disk, whatever is the default here.
    if (commit === 'off') begin.push('set local synchronous_commit = on')
    return { session, begin: begin.join('; ') }
  } catch (error) {
    if (session && refusesSettings(error)) return await inspect(url, name, false)
    throw error
  } finally {
    await db.destroy()
  }
}

const localTimeouts = [
  `set local statement_timeout = ${patience.statement}`,
  `set local lock_timeout = ${patience.lock}`,
  `set local idle_in_transaction_session_timeout = ${patience.idleTransaction}`,
]

async function settingsOf(db: Kysely<Tables>): Promise<{ encoding: string; commit: string }> {
  const { rows } = await sql<{ encoding: string; commit: string }>`
    select current_setting('server_encoding') as encoding, current_setting('synchronous_commit') as commit`.execute(db)
  return present(rows[0], 'the row of settings')
}

/** PgBouncer's refusal of a parameter that it cannot keep for each of its clients. */
function refusesSettings(error: unknown): boolean {
  const { cause } = error as Error
  return cause instanceof DatabaseError && cause.message.includes('unsupported startup parameter')
}
