import { AsyncLocalStorage } from 'node:async_hooks'
import type { Kysely } from 'kysely'
import type { Repositories, Store } from '../core/index.ts'
import type { Access } from './access.ts'
import type { BackupSource } from './backup.ts'
import type { BlobStorage } from './blobs.ts'
import { ClosedStoreError, NoBackupError, OutsideTransactionError, ReadOnlyStoreError } from './errors/index.ts'
import { repositories } from './repositories.ts'
import type { Tables } from './tables.ts'
import { TransactionAccess } from './transaction.ts'
import type { WriteQueue } from './write-queue.ts'

/** What a store is made of; nothing here depends on the database behind Kysely. */
export interface StoreParts {
  /** For messages. */
  readonly path: string
  /** Sees committed rows only. */
  readonly reader: Kysely<Tables>
  /** `null` for a store that is only read. */
  readonly writes: WriteQueue | null
  readonly blobs: BlobStorage
  /** See `Access.settle`. Default: nothing else writes. */
  readonly settle?: Access['settle']
  /** See `Access.sweep`. Default: there is nothing but memory. */
  readonly sweep?: Access['sweep']
  /** Copies the store; absent where its database has tools of its own for that. */
  readonly backup?: (source: BackupSource, folder: string) => Promise<void>
  /** Closes connections and gives up locks. */
  readonly release: () => Promise<void>
}

export function assembleStore(parts: StoreParts): Store {
  const { path, reader, writes, blobs, backup, release } = parts
  const { settle = async () => {}, sweep = async () => 'nowhere' as const } = parts
  const transactions = new AsyncLocalStorage<{ open: boolean }>()
  let closed: Promise<void> | null = null

  const assertUsable = () => {
    if (closed) throw new ClosedStoreError(path)
    if (transactions.getStore()?.open) throw new OutsideTransactionError()
  }
  const writable = () => {
    assertUsable()
    if (!writes) throw new ReadOnlyStoreError(path)
    return writes
  }
  const access: Access = {
    async read(work) {
      assertUsable()
      return work(reader)
    },
    async write(work, touches) {
      return writable().together(work, touches)
    },
    settle,
    sweep,
  }

  return {
    ...repositories(access, blobs),

    async transaction<T>(work: (tx: Repositories) => Promise<T>): Promise<T> {
      const inCallersContext = AsyncLocalStorage.snapshot()
      return writable().alone(async (db) => {
        const tx = new TransactionAccess(db)
        const scope = { open: true }
        try {
          const result = await inCallersContext(() => transactions.run(scope, () => work(repositories(tx, blobs))))
          tx.assertSound()
          return result
        } finally {
          scope.open = false
        }
      })
    },

    async backup(folder) {
      assertUsable()
      if (!backup) throw new NoBackupError(path)
      await backup({ path, reader, blobs }, folder)
    },

    async close() {
      closed ??= (async () => {
        await writes?.drained()
        await release()
      })()
      await closed
    },
  }
}
