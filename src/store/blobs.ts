import { type Kysely, sql } from 'kysely'
import type { BlobHash, BlobRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import type { Tables } from './tables.ts'

/** Where bytes are kept; knows nothing of what refers to them. */
export interface BlobStorage extends Pick<BlobRepository, 'put' | 'get'> {
  /** Removes a blob, if it is there. */
  remove(hash: BlobHash): Promise<void>
}

/** Blobs, of which none is deleted that a committed row names. */
export function blobRepository({ read }: Access, storage: BlobStorage): BlobRepository {
  return {
    put: (bytes) => storage.put(bytes),
    get: (hash) => storage.get(hash),
    delete: async (hash) => {
      if (!(await read((db) => isNamed(db, hash)))) await storage.remove(hash)
    },
  }
}

/** Whether a Version's value, or what a run would resume from, names the blob. */
async function isNamed(db: Kysely<Tables>, hash: BlobHash): Promise<boolean> {
  const version = await db.selectFrom('versions').select('id').where('value', 'like', `%${hash}%`).executeTakeFirst()
  if (version) return true
  const checkpoint = await db
    .selectFrom('checkpoints')
    .select('run')
    .where('blobs', 'like', `%${hash}%`)
    .where('sequence', '=', (eb) =>
      eb
        .selectFrom('checkpoints as later')
        .whereRef('later.run', '=', 'checkpoints.run')
        .select(sql<number>`max(later.sequence)`.as('latest')),
    )
    .executeTakeFirst()
  return checkpoint !== undefined
}
