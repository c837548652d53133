import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Store } from '../core/index.ts'
import { backUpSqlite } from './backup.ts'
import { sqliteEngine } from './engine.ts'
import { MissingStoreError, StoreError } from './errors/index.ts'
import { fileBlobs, readOnlyBlobs, removeStaleBlobs } from './file-blobs.ts'
import { FreeSpace } from './free-space.ts'
import { makeFolder } from './make-folder.ts'
import { memoryBlobs } from './memory-blobs.ts'
import { assertMigrated, migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { kyselyOver, openSqlite, type SqliteConnection } from './sqlite-driver.ts'
import { sweepFiles } from './sqlite-sweep.ts'
import { assembleStore } from './store.ts'
import type { Tables } from './tables.ts'
import { WriteQueue } from './write-queue.ts'
import { lockForWriting } from './writer-lock.ts'

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

/**
 * Opens a store in a file of SQLite for writing, in this thread.
 * @throws LockedStoreError when another process writes it.
 */
export async function openSqliteWriter(path: string): Promise<Store> {
  const blobs = join(dirname(path), 'blobs')
  await makeStoreFolder(dirname(path))
  const opened: { close(): void }[] = []
  const closeAll = () => {
    for (const part of opened.splice(0).toReversed()) part.close()
  }
  try {
    const lock = await lockForWriting(path)
    opened.push({ close: () => lock.release() })
    const freeSpace = new FreeSpace(path)
    opened.push(freeSpace)
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
    const writes = new WriteQueue(writer)
    return assembleStore({
      path,
      reader: kyselyOver<Tables>(reading),
      writes,
      blobs: fileBlobs(blobs),
      sweep: () => sweepFiles(writing, writes, freeSpace),
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

/**
 * Opens a store in a file of SQLite to look on, in this thread.
 * @throws MissingStoreError when it is not there.
 */
export async function openSqliteReader(path: string): Promise<Store> {
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

async function makeStoreFolder(path: string): Promise<void> {
  try {
    await makeFolder(path)
  } catch (error) {
    throw new StoreError({
      code: 'store/cannot-open',
      message: `The store's folder ${path} cannot be made: ${(error as Error).message}`,
      hint: 'Give a path in a folder that may be written.',
      cause: error,
    })
  }
}
