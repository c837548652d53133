import { type ColumnDataType, type ColumnDefinitionBuilder, type Expression, type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** A column's type, in words that Kysely knows or in the database's own. */
export type ColumnType = ColumnDataType | Expression<unknown>

type Define = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder

/** What a database calls the types of the columns, so that every engine keeps and compares values in the same way. */
export interface Columns {
  /** Any text, compared and ordered by its code points, whatever language the database was made for. */
  readonly text: ColumnType
  /** Whole numbers up to 2^31. */
  readonly integer: ColumnType
  /** Whole numbers up to 2^53. */
  readonly bigInteger: ColumnType
  /** Milliseconds since the epoch, fractions of them too: clients' clocks have them. */
  readonly time: ColumnType
  readonly double: ColumnType
  /** A key that counts up in the order of insertion. */
  readonly sequence: readonly [ColumnType, Define]
  /** Bytes that are in tables; `null` where they are files beside the database. */
  readonly bytes: ColumnType | null
  /** Whether a table may be written without a log: quicker, and empty after the database crashed. */
  readonly unlogged: boolean
}

/** In what databases differ, beyond what Kysely evens out. Everything else in this room is the same for all. */
export interface Engine {
  readonly columns: Columns
  /** The store's own tables, by name. */
  readonly tables: (db: Kysely<Tables>) => Promise<readonly string[]>
  /** At the start of a transaction: one that migrates, alone in the whole database, and where the tables can be made. */
  readonly beginMigration: (tx: Kysely<Tables>) => Promise<void>
  /** At the start of a transaction that reads before it writes: no other such transaction runs until it ends. */
  readonly isolate: (tx: Kysely<Tables>) => Promise<void>
  /** At the start of a transaction: waits for every write of a call that began before; later ones see what this one wrote. */
  readonly settle: (tx: Kysely<Tables>) => Promise<void>
}

/** One process writes, one transaction at a time: locks are not needed. */
export const sqliteEngine: Engine = {
  columns: {
    text: 'text',
    integer: 'integer',
    bigInteger: 'bigint',
    time: 'bigint',
    double: 'double precision',
    sequence: ['integer', (column) => column.primaryKey().autoIncrement()],
    bytes: null,
    unlogged: false,
  },
  tables: async (db) => (await db.introspection.getTables()).map(({ name }) => name),
  beginMigration: async () => {},
  isolate: async () => {},
  settle: async () => {},
}

/** The schema that holds Ratchet's tables, so that it can share a database with whatever else is there. */
export const postgresSchema = 'ratchet'

/** Keys of advisory locks, which are numbers that every user of a database shares: these were drawn at random. */
const migrationLock = 7_203_461_885_120_943n
const transactionLock = 7_203_461_885_120_944n

/** How long an erasure waits for writes that are under way. Milliseconds. */
const settleMs = 5_000

/** Many processes write. Locks last until their transaction ends, so that none outlives its process. */
export const postgresEngine: Engine = {
  columns: {
    text: sql`text collate "C"`,
    integer: 'integer',
    bigInteger: 'bigint',
    time: 'double precision',
    double: 'double precision',
    sequence: ['bigint', (column) => column.primaryKey().generatedByDefaultAsIdentity()],
    bytes: 'bytea',
    unlogged: true,
  },

  async tables(db) {
    const { rows } = await sql<{ name: string }>`
      select c.relname::text as name from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${postgresSchema} and c.relkind in ('r', 'p', 'v') order by 1`.execute(db)
    return rows.map(({ name }) => name)
  },

  async beginMigration(tx) {
    // However long it takes: a large table that is rewritten, or the process before this one that does it.
    await sql`set local statement_timeout = 0`.execute(tx)
    await sql`set local lock_timeout = 0`.execute(tx)
    await sql`select pg_advisory_xact_lock(${migrationLock})`.execute(tx)
    // Looked up first, since `if not exists` asks for the right to make schemas also where there is one already.
    const { rows } = await sql`select 1 from pg_catalog.pg_namespace where nspname = ${postgresSchema}`.execute(tx)
    if (rows.length === 0) await tx.schema.createSchema(postgresSchema).execute()
  },

  async isolate(tx) {
    await sql`select pg_advisory_xact_lock(${transactionLock})`.execute(tx)
  },

  async settle(tx) {
    // Those that would write wait meanwhile: not for as long as a VACUUM by hand may take.
    await sql`set local lock_timeout = ${sql.lit(settleMs)}`.execute(tx)
    await sql`lock table ${sql.id(postgresSchema, 'trajectories')}, ${sql.id(postgresSchema, 'pending_calls')} in share mode`.execute(
      tx,
    )
  },
}
