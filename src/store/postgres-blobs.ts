import { type Kysely, sql } from 'kysely'
import { BlobHash, sha256 } from '../core/index.ts'
import type { BlobStorage } from './blobs.ts'
import { CorruptBlobError, MissingBlobError, ReadOnlyStoreError } from './errors/index.ts'
import type { Tables } from './tables.ts'

// Not an interface: Kysely asks for what can be indexed.
type BlobTables = {
  blobs: { hash: string }
  blob_chunks: { hash: string; part: number; bytes: Uint8Array }
}

/** Bytes of one row. A blob may be larger than PostgreSQL's largest value, and is never twice in memory as one. */
const chunkBytes = 4 * 1024 * 1024

/** Blobs as rows, for all processes that share the database. The bytes given to `put` must not change before it resolves. */
export function postgresBlobs(database: Kysely<Tables>): BlobStorage {
  const db = database.withTables<BlobTables>()
  return {
    async put(bytes) {
      const hash = BlobHash.parse(sha256(bytes))
      const chunks = chunksOf(bytes)
      await db.transaction().execute(async (tx) => {
        // Waits for a process that is writing the same blob.
        const insert = tx
          .insertInto('blobs')
          .values({ hash })
          .onConflict((c) => c.doNothing())
        const { numInsertedOrUpdatedRows: inserted } = await insert.executeTakeFirstOrThrow()
        if (inserted !== 1n) {
          if (await holds(tx, hash, chunks)) return
          // A damaged blob is written anew: here are the bytes that repair it.
          await tx.deleteFrom('blob_chunks').where('hash', '=', hash).execute()
        }
        for (const [part, chunk] of chunks.entries()) {
          await tx.insertInto('blob_chunks').values({ hash, part, bytes: chunk }).execute()
        }
      })
      return hash
    },

    async get(hash) {
      const blob = await db
        .selectFrom('blobs')
        .leftJoin('blob_chunks', 'blob_chunks.hash', 'blobs.hash')
        .where('blobs.hash', '=', hash)
        .groupBy('blobs.hash')
        .select(sql<number>`coalesce(sum(length(bytes)), 0)`.as('size'))
        .executeTakeFirst()
      if (!blob) throw new MissingBlobError(hash)
      const bytes = new Uint8Array(blob.size)
      for (let filled = 0, part = 0; filled < blob.size; part++) {
        const chunk = await chunkOf(db, hash, part)
        if (!chunk) break
        bytes.set(chunk.subarray(0, blob.size - filled), filled)
        filled += chunk.length
      }
      const actual = sha256(bytes)
      if (actual !== hash) throw new CorruptBlobError(hash, actual)
      return bytes
    },

    async remove(hash) {
      await db.transaction().execute((tx) => tx.deleteFrom('blobs').where('hash', '=', hash).execute())
    },
  }
}

/** Blobs that may be looked at only. */
export function readOnlyPostgresBlobs(db: Kysely<Tables>, name: string): BlobStorage {
  return {
    put: () => Promise.reject(new ReadOnlyStoreError(name)),
    get: (hash) => postgresBlobs(db).get(hash),
    remove: () => Promise.reject(new ReadOnlyStoreError(name)),
  }
}

function chunksOf(bytes: Uint8Array): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    chunks.push(Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(chunkBytes, bytes.length - start)))
  }
  return chunks
}

async function chunkOf(db: Kysely<Tables & BlobTables>, hash: string, part: number): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('blob_chunks')
    .select('bytes')
    .where('hash', '=', hash)
    .where('part', '=', part)
    .executeTakeFirst()
  return row?.bytes
}

/** Whether the rows hold exactly these chunks. The database hashes them: nothing is sent but the hashes. */
async function holds(db: Kysely<Tables & BlobTables>, hash: string, chunks: readonly Buffer[]): Promise<boolean> {
  const rows = await db
    .selectFrom('blob_chunks')
    .select(sql<string>`encode(sha256(bytes), 'hex')`.as('actual'))
    .where('hash', '=', hash)
    .orderBy('part')
    .execute()
  return rows.length === chunks.length && rows.every(({ actual }, part) => actual === sha256(chunks[part] ?? ''))
}
