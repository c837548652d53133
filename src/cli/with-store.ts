import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Store } from '../core/index.ts'
import { MissingStoreError, openStore } from '../store/index.ts'

export interface StoreFlags {
  /** Folder of the store. */
  readonly store: string
  readonly json?: boolean
}

/**
 * Works with the store of a folder, and closes it.
 * @throws MissingStoreError when there is none: it is not made.
 */
export async function withStore<T>(
  { store: folder }: StoreFlags,
  access: 'read' | 'write',
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const path = join(folder, 'ratchet.db')
  if (!existsSync(path)) throw new MissingStoreError(path)
  const store = await openStore({ path, readonly: access === 'read' })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
