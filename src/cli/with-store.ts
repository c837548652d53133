import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { shellWord, type Store } from '../core/index.ts'
import { MissingStoreError, openStore, type StoreLocation, storeLocation } from '../store/index.ts'

export interface StoreFlags {
  /** Folder of the store, or a database's URL. Default: RATCHET_DATABASE_URL, else `.ratchet`. */
  readonly store?: string
  readonly json?: boolean
}

/** Where the flags and the environment say that the store is. */
export function locationOf({ store }: StoreFlags): StoreLocation {
  return storeLocation({ folder: store, env: process.env })
}

/** The folder that reports go to: the store's own, or `.ratchet` where the store is a database elsewhere. */
export function folderOf(flags: StoreFlags): string {
  const location = locationOf(flags)
  return 'path' in location ? dirname(location.path) : '.ratchet'
}

/**
 * How the user names the store in further commands: as they named it here, and not at all where they did not. The address of
 * a database holds a password: it stays in RATCHET_DATABASE_URL.
 */
export function storeArgument({ store }: StoreFlags): string {
  if (store === undefined) return ''
  if (store.includes('://')) return ' --store "$RATCHET_DATABASE_URL"'
  return ` --store ${shellWord(store)}`
}

/**
 * Works with a store, and closes it.
 * @param access `read` needs no lock; `create` makes a store where there is none.
 * @throws MissingStoreError when there is none and it is not to be made.
 */
export async function withStore<T>(
  flags: StoreFlags,
  access: 'read' | 'write' | 'create',
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const location = locationOf(flags)
  if (access !== 'create' && 'path' in location && !existsSync(location.path)) {
    throw new MissingStoreError(location.path)
  }
  const store = await openStore({ ...location, readonly: access === 'read', thread: 'main' })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
