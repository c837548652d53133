import {
  CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  Kysely,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely'
import { storeErrorOf } from './sqlite-error.ts'

/** The part of the `node:sqlite` API that the store uses. */
interface SqliteApi {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => NativeDatabase
  readonly StatementSync: { readonly prototype: object }
}
interface NativeDatabase {
  exec(sql: string): void
  prepare(sql: string): NativeStatement
  close(): void
}
interface NativeStatement {
  all(...parameters: readonly unknown[]): unknown[]
  run(...parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  iterate(...parameters: readonly unknown[]): IterableIterator<unknown>
  columns(): readonly unknown[]
}

let api: Promise<SqliteApi> | undefined

/** `node:sqlite` where Node has all of it that is used (from 22.16), else the package that gives the same API. */
function loadSqlite(): Promise<SqliteApi> {
  api ??= (async () => builtinSqlite() ?? (await import('@photostructure/sqlite')))()
  return api
}

/** Node 22 says on load that `node:sqlite` is experimental; that one warning is not the user's concern. */
function builtinSqlite(): SqliteApi | undefined {
  const emit = process.emitWarning.bind(process)
  process.emitWarning = (warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite is an experimental feature')) emit(warning, ...rest)
  }
  try {
    const builtin = process.getBuiltinModule('node:sqlite') as SqliteApi | undefined
    return builtin && 'columns' in builtin.StatementSync.prototype ? builtin : undefined
  } finally {
    process.emitWarning = emit
  }
}

/** One SQLite connection. Every failure leaves it as a StoreError. */
export interface SqliteConnection {
  exec(sql: string): void
  all(sql: string): unknown[]
  close(): void
  /** @internal What the dialect prepares on. */
  readonly database: SqliteDatabase
}

/** Statements a connection keeps prepared. The store uses some 60 distinct ones, and batches in a few sizes. */
const preparedStatements = 200

/**
 * Opens one connection.
 * @param path of the database file; `:memory:` for a private one in memory.
 * @throws StoreError when it cannot be opened.
 */
export async function openSqlite(
  path: string,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<SqliteConnection> {
  const { DatabaseSync } = await loadSqlite()
  const guarded = <T>(action: () => T): T => {
    try {
      return action()
    } catch (error) {
      throw storeErrorOf(error, path, readOnly)
    }
  }
  const native = guarded(() => new DatabaseSync(path, { readOnly }))
  const prepared = new Map<string, SqliteStatement>()

  const prepare = (sql: string): SqliteStatement => {
    const known = prepared.get(sql)
    if (known) return known
    const statement = guarded(() => native.prepare(sql))
    const reader = statement.columns().length > 0
    const guardedStatement: SqliteStatement = {
      reader,
      all: (parameters) => guarded(() => statement.all(...parameters)),
      run: (parameters) => guarded(() => statement.run(...parameters)),
      iterate: (parameters) => guarded(() => statement.iterate(...parameters)),
    }
    const [oldest] = prepared.keys()
    if (prepared.size >= preparedStatements && oldest !== undefined) prepared.delete(oldest)
    prepared.set(sql, guardedStatement)
    return guardedStatement
  }

  const close = () => {
    prepared.clear()
    guarded(() => native.close())
  }
  return {
    exec: (sql) => guarded(() => native.exec(sql)),
    all: (sql) => prepare(sql).all([]),
    close,
    database: { prepare, close },
  }
}

/** The query builder over one connection; transactions take the write lock at once, so that none fails half-way for it. */
export function kyselyOver<Tables>(connection: SqliteConnection): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: new NodeSqliteDialect(connection.database) })
}

/** By the adapters of their dialects. */
const databases = new WeakMap<object, SqliteDatabase>()

/**
 * The database behind a query builder: what runs on it runs at once, in the transaction that is open on its one connection.
 * @param adapter of the builder's dialect.
 * @returns `undefined` where that is not SQLite's.
 */
export function sqliteBehind(adapter: object): SqliteDatabase | undefined {
  return databases.get(adapter)
}

class NodeSqliteDialect extends SqliteDialect {
  readonly #database: SqliteDatabase
  constructor(database: SqliteDatabase) {
    super({ database })
    this.#database = database
  }

  override createAdapter(): DialectAdapter {
    const adapter = super.createAdapter()
    databases.set(adapter, this.#database)
    return adapter
  }

  override createDriver(): Driver {
    return new ImmediateDriver({ database: this.#database })
  }
}

class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // SQLite has rolled back by itself after errors such as a full disk; the error that matters is on its way already.
    try {
      await connection.executeQuery(CompiledQuery.raw('rollback'))
    } catch {}
  }
}
