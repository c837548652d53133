import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Store } from '../core/index.ts'
import { backUpSqlite } from './backup.ts'
import { sqliteEngine } from './engine.ts'
import { MissingStoreError, StoreError } from './errors/index.ts'
import { fileBlobs, readOnlyBlobs, removeStaleBlobs } from './file-blobs.ts'
import { memoryBlobs } from './memory-blobs.ts'
import { assertMigrated, migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { openPostgres, openPostgresReader } from './postgres-store.ts'
import { kyselyOver, openSqlite, type SqliteConnection } from './sqlite-driver.ts'
import { openThreadedStore } from './sqlite-threaded-store.ts'
import { assembleStore } from './store.ts'
import type { StoreLocation } from './store-location.ts'
import type { Tables } from './tables.ts'
import { WriteQueue } from './write-queue.ts'
import { lockForWriting } from './writer-lock.ts'

/** Where a store is, and how it is used. */
export type StoreOptions = StoreLocation & {
  /** Looks on while other processes write; needs no lock, and no right to write. */
  readonly readonly?: boolean
  /**
   * Where SQLite does its work. `worker`, the default for a store that is written: in threads of its own, so that the
   * event loop never waits for the disk. `main`, the default for one that is read: in the caller's thread, which is
   * open at once and costs less for a few calls.
   */
  readonly thread?: 'main' | 'worker'
}

/** Run from its sources, as by tests, a store has no threads: they would run what was compiled last. */
const writerThread = import.meta.url.endsWith('.ts') ? 'main' : 'worker'

/**
 * Opens a store, made and migrated when need be: in SQLite, which one process writes, or in PostgreSQL, which many do.
 * @throws LockedStoreError when another process writes it (SQLite).
 * @throws MissingStoreError when it is to be read and is not there.
 * @throws NewerSchemaError | OlderSchemaError | CorruptStoreError when this Ratchet cannot use it.
 * @throws BadDatabaseUrlError | UnavailableStoreError | DatabaseEncodingError when the server cannot be used (PostgreSQL).
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  if ('url' in options) return options.readonly ? openPostgresReader(options.url) : openPostgres(options.url)
  const path = resolve(options.path)
  const { readonly = false, thread = readonly ? 'main' : writerThread } = options
  if (thread === 'worker') return openThreadedStore({ path, readonly })
  return readonly ? openReader(path) : openWriter(path)
}

/** A store that lives and ends with the process: for tests and trials. */
export async function openMemoryStore(): Promise<Store> {
  const path = ':memory:'
  const connection = await openSqlite(path)
  connection.exec('pragma foreign_keys = on')
  const db = kyselyOver<Tables>(connection)
  await migrate({ db, engine: sqliteEngine, path }, migrations)
  return assembleStore({
    path,
    reader: db,
    writes: new WriteQueue(db),
    blobs: memoryBlobs(),
    backup: backUpSqlite,
    release: () => db.destroy(),
  })
}

async function openWriter(path: string): Promise<Store> {
  const blobs = join(dirname(path), 'blobs')
  await makeFolder(dirname(path))
  const opened: { close(): void }[] = []
  const closeAll = () => {
    for (const part of opened.splice(0).toReversed()) part.close()
  }
  try {
    const lock = await lockForWriting(path)
    opened.push({ close: () => lock.release() })
    const writing = await openSqlite(path)
    opened.push({ close: () => closeWriter(writing) })
    // FULL: a commit is on the disk, through a loss of power too, before it is acknowledged.
    writing.exec(
      'pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on',
    )
    // What is removed is overwritten: erasing a person's data is more than forgetting where it is.
    writing.exec('pragma secure_delete = on')
    const writer = kyselyOver<Tables>(writing)
    await migrate({ db: writer, engine: sqliteEngine, path }, migrations)
    const reading = await openSqlite(path, { readOnly: true })
    opened.push(reading)
    reading.exec('pragma busy_timeout = 5000')
    await removeStaleBlobs(blobs, Date.now())
    return assembleStore({
      path,
      reader: kyselyOver<Tables>(reading),
      writes: new WriteQueue(writer),
      blobs: fileBlobs(blobs),
      backup: backUpSqlite,
      release: async () => closeAll(),
    })
  } catch (error) {
    closeAll()
    throw error
  }
}

/**
 * The package for Node 20 frees a connection's statements, and with them the connection, only when they are collected;
 * so what SQLite does when the last connection closes is done here: the log goes into the database file.
 */
function closeWriter(connection: SqliteConnection): void {
  try {
    connection.exec('pragma wal_checkpoint(truncate)')
  } catch {
    // A full disk or a damaged file: the log holds everything that was acknowledged, and the next writer reads it.
  }
  connection.close()
}

async function openReader(path: string): Promise<Store> {
  if (!existsSync(path)) throw new MissingStoreError(path)
  const reading = await openSqlite(path, { readOnly: true })
  try {
    reading.exec('pragma busy_timeout = 5000')
    const reader = kyselyOver<Tables>(reading)
    await assertMigrated({ db: reader, engine: sqliteEngine, path }, migrations)
    const blobs = readOnlyBlobs(join(dirname(path), 'blobs'))
    return assembleStore({
      path,
      reader,
      writes: null,
      blobs,
      backup: backUpSqlite,
      release: async () => reading.close(),
    })
  } catch (error) {
    reading.close()
    throw error
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true })
  } catch (error) {
    throw new StoreError({
      code: 'store/cannot-open',
      message: `The store's folder ${path} cannot be made: ${(error as Error).message}`,
      hint: 'Give a path in a folder that may be written.',
      cause: error,
    })
  }
}
