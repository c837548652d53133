import { open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import { asWeights, type BlobHash, BlobRef, ParameterValue } from '../core/index.ts'
import type { BlobStorage } from './blobs.ts'
import {
  BackupCheckError,
  BackupFolderError,
  CorruptStoreError,
  DiskFullError,
  MissingBlobError,
} from './errors/index.ts'
import { fileBlobs } from './file-blobs.ts'
import { fileErrorOf } from './file-error.ts'
import { makeFolder } from './make-folder.ts'
import { fromJson, parseRecord } from './record.ts'
import { openSqlite } from './sqlite-driver.ts'
import { syncFile, syncFolder } from './sync-file.ts'
import type { Tables } from './tables.ts'

/** Times that a copy is made anew because a blob that it names was deleted before it could be copied. */
const attempts = 5

/** What is copied. */
export interface BackupSource {
  /** For messages. */
  readonly path: string
  /** A connection on which no transaction is open. */
  readonly reader: Kysely<Tables>
  readonly blobs: BlobStorage
}

/**
 * Copies a SQLite store while others read and write: the database as of one moment, and the blobs that it names then.
 * The copy is `<folder>/ratchet.db` with `blobs/` beside it. That name appears last, when everything is on the disk and
 * SQLite's own check found nothing: a folder without it is a backup that did not come to its end.
 * @throws BackupFolderError when the folder holds something.
 * @throws BackupCheckError | MissingBlobError | CorruptBlobError when the copy would not be whole; nothing is left of it.
 */
export async function backUpSqlite({ path, reader, blobs }: BackupSource, to: string): Promise<void> {
  const folder = resolve(to)
  const incoming = join(folder, 'ratchet.db.incoming')
  const copiedBlobs = join(folder, 'blobs')
  await claim(folder, incoming)
  try {
    for (let attempt = 1; ; attempt++) {
      await sql`vacuum into ${incoming}`.execute(reader)
      const missing = await copyBlobs(await blobsNamedIn(path, incoming), blobs, copiedBlobs)
      if (missing === null) break
      if (attempt === attempts) throw missing
      await rm(incoming)
    }
    await syncFile(incoming)
    await rename(incoming, join(folder, 'ratchet.db'))
    await syncFolder(folder)
    await syncFolder(dirname(folder))
  } catch (error) {
    await Promise.allSettled([incoming, copiedBlobs].map((made) => rm(made, { recursive: true, force: true })))
    throw error instanceof DiskFullError ? new DiskFullError(folder, error) : fileErrorOf(error, folder)
  }
}

/** Makes the folder ours by a file that must not have been there. */
async function claim(folder: string, file: string): Promise<void> {
  try {
    await makeFolder(folder)
    if ((await readdir(folder)).length > 0) throw new BackupFolderError(folder)
    await (await open(file, 'wx')).close()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOTDIR') throw new BackupFolderError(folder)
    throw fileErrorOf(error, folder)
  }
}

/** Blobs that a copy must have, and others that its values may mean. */
interface NamedBlobs {
  readonly required: ReadonlySet<BlobHash>
  readonly possible: ReadonlySet<BlobHash>
}

/** Checks a copy, and finds what it names. Only a run's latest checkpoint is gone on from. */
async function blobsNamedIn(path: string, copy: string): Promise<NamedBlobs> {
  const database = await openSqlite(copy, { readOnly: true })
  try {
    const rows = <S extends z.ZodType>(schema: S, query: string) => z.array(schema).parse(database.all(query))
    const problems = rows(z.object({ integrity_check: z.string() }), 'pragma integrity_check')
    const [first] = problems
    if (first?.integrity_check !== 'ok') throw new BackupCheckError(path, first?.integrity_check ?? 'no answer')

    const required = new Set<BlobHash>()
    const possible = new Set<BlobHash>()
    for (const { id, value } of rows(
      z.object({ id: z.string(), value: z.string() }),
      'select id, value from versions',
    )) {
      const parsed = parseRecord(ParameterValue, fromJson(value, `version ${id}`), `version ${id}`)
      const adapter = asWeights(parsed)?.adapter
      if (typeof adapter === 'string') required.add(adapter)
      for (const hash of value.match(/[0-9a-f]{64}/g) ?? []) possible.add(hash)
    }
    const latest = `select blobs from checkpoints as c
      where sequence = (select max(sequence) from checkpoints where run = c.run)`
    for (const row of rows(z.object({ blobs: z.string() }), latest)) {
      for (const ref of Object.values(z.record(z.string(), BlobRef).parse(JSON.parse(row.blobs)))) {
        if (typeof ref === 'string') required.add(ref)
      }
    }
    return { required, possible }
  } catch (error) {
    throw error instanceof CorruptStoreError ? new BackupCheckError(path, 'it cannot be read back', error) : error
  } finally {
    database.close()
  }
}

/** @returns the error of a required blob that is not there (any more), if one is not. */
async function copyBlobs(
  { required, possible }: NamedBlobs,
  from: BlobStorage,
  folder: string,
): Promise<MissingBlobError | null> {
  const copy = fileBlobs(folder)
  for (const hash of new Set([...required, ...possible])) {
    try {
      await copy.put(await from.get(hash))
    } catch (error) {
      if (!(error instanceof MissingBlobError)) throw error
      if (required.has(hash)) return error
    }
  }
  return null
}
