import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BlobHash, sha256 } from '../core/index.ts'
import type { BlobStorage } from './blobs.ts'
import { CorruptBlobError, MissingBlobError, ReadOnlyStoreError } from './errors/index.ts'
import { fileErrorOf } from './file-error.ts'
import { makeFolder } from './make-folder.ts'
import { syncFolder } from './sync-file.ts'

/** Where a blob is while it is being written. */
const incoming = 'incoming'
/** A file that has been incoming for longer was left by a process that died. */
const staleMilliseconds = 3_600_000

/**
 * Blobs as files named by their SHA-256: `<folder>/ab/abcdef…`. A file is written under another name, synced and
 * renamed, and its folders are synced, before `put` resolves; so a name is either absent or holds all of its bytes.
 * The bytes given to `put` must not change before it resolves.
 */
export function fileBlobs(folder: string): BlobStorage {
  return {
    async put(bytes) {
      const hash = BlobHash.parse(sha256(bytes))
      const home = join(folder, hash.slice(0, 2))
      const path = join(home, hash)
      try {
        await makeFolder(home)
        // A damaged file is written anew: here are the bytes that repair it.
        if (!(await holds(path, hash))) await writeDurably(folder, path, bytes)
        // Also when it was there: the process that wrote it may have died before it synced these.
        await syncFolder(home)
        await syncFolder(folder)
      } catch (error) {
        throw fileErrorOf(error, path)
      }
      return hash
    },

    async get(hash) {
      const path = join(folder, hash.slice(0, 2), hash)
      let bytes: Buffer
      try {
        bytes = await readFile(path)
      } catch (error) {
        throw codeOf(error) === 'ENOENT' ? new MissingBlobError(hash) : fileErrorOf(error, path)
      }
      const actual = sha256(bytes)
      if (actual !== hash) throw new CorruptBlobError(hash, actual)
      return bytes
    },

    async remove(hash) {
      const path = join(folder, hash.slice(0, 2), hash)
      try {
        await rm(path, { force: true })
      } catch (error) {
        throw fileErrorOf(error, path)
      }
    },
  }
}

/** Blobs that may be looked at only. */
export function readOnlyBlobs(folder: string): BlobStorage {
  return {
    put: () => Promise.reject(new ReadOnlyStoreError(folder)),
    get: (hash) => fileBlobs(folder).get(hash),
    remove: () => Promise.reject(new ReadOnlyStoreError(folder)),
  }
}

/** Removes what processes that died left half-written. */
export async function removeStaleBlobs(folder: string, now: number): Promise<void> {
  const names = await readdir(join(folder, incoming)).catch(() => [])
  for (const name of names) {
    const path = join(folder, incoming, name)
    const left = await stat(path).catch(() => null)
    if (left && now - left.mtimeMs > staleMilliseconds) await rm(path, { force: true })
  }
}

/**
 * Removes every blob that is not named, and what is half-written. Only for who alone writes the folder. What no blob is named
 * like stays.
 */
export async function sweepBlobs(folder: string, isNamed: (hash: BlobHash) => boolean): Promise<void> {
  await rm(join(folder, incoming), { recursive: true, force: true })
  for (const home of await namesIn(folder)) {
    if (!/^[0-9a-f]{2}$/.test(home)) continue
    for (const name of await namesIn(join(folder, home))) {
      const hash = BlobHash.safeParse(name)
      if (!hash.success || !name.startsWith(home) || isNamed(hash.data)) continue
      await rm(join(folder, home, name), { force: true })
    }
  }
}

/** Names in a folder; none where there is no folder. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw fileErrorOf(error, folder)
  })
}

async function holds(path: string, hash: string): Promise<boolean> {
  try {
    return sha256(await readFile(path)) === hash
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

async function writeDurably(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  await makeFolder(join(folder, incoming))
  const temporary = join(folder, incoming, randomUUID())
  try {
    const file = await open(temporary, 'wx')
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
