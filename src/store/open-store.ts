import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Store } from '../core/index.ts'
import { StoreFolderError } from './errors/index.ts'
import { openPostgres, openPostgresReader } from './postgres-store.ts'
import { openSqliteReader, openSqliteWriter } from './sqlite-store.ts'
import { openThreadedStore } from './sqlite-threaded-store.ts'
import type { StoreLocation } from './store-location.ts'

export { openMemoryStore } from './sqlite-store.ts'

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
 * @throws StoreFolderError when the path is a folder's (SQLite).
 * @throws MissingStoreError when it is to be read and is not there.
 * @throws NewerSchemaError | OlderSchemaError | CorruptStoreError when this Ratchet cannot use it.
 * @throws BadDatabaseUrlError | UnavailableStoreError | DatabaseEncodingError when the server cannot be used (PostgreSQL).
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  if ('url' in options) return options.readonly ? openPostgresReader(options.url) : openPostgres(options.url)
  const path = resolve(options.path)
  if ((await stat(path).catch(() => null))?.isDirectory()) throw new StoreFolderError(path)
  const { readonly = false, thread = readonly ? 'main' : writerThread } = options
  if (thread === 'worker') return openThreadedStore({ path, readonly })
  return readonly ? openSqliteReader(path) : openSqliteWriter(path)
}
