import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, SqliteDialect, type SqliteStatement } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BlobHash, mintVersion, type Store } from '../core/index.ts'
import { backUpSqlite } from './backup.ts'
import {
  BackupCheckError,
  BackupFolderError,
  ClosedStoreError,
  CorruptBlobError,
  MissingBlobError,
  NoBackupError,
} from './errors/index.ts'
import { fileBlobs } from './file-blobs.ts'
import { openMemoryStore, openStore } from './open-store.ts'
import { kyselyOver, openSqlite } from './sqlite-driver.ts'
import { assembleStore } from './store.ts'
import { sample } from './store.conformance.ts'
import type { Tables } from './tables.ts'

let folder: string
let path: string
let copy: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-backup-'))
  path = join(folder, 'store', 'ratchet.db')
  copy = join(folder, 'deep', 'copy')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const openCopy = () => openStore({ path: join(copy, 'ratchet.db') })
const placeOf = (hash: string, store = join(folder, 'store')) => join(store, 'blobs', hash.slice(0, 2), hash)

/** A version of weights whose adapter is these bytes. */
async function putAdapter(store: Store, text: string): Promise<BlobHash> {
  const adapter = await store.blobs.put(Buffer.from(text))
  const value = { kind: 'weights', base: 'base', baseHash: 'ab'.repeat(32), adapter } as const
  await store.versions.put(mintVersion('model', value, { parents: [], run: null }))
  return adapter
}

describe('a backup', () => {
  it('opens as a store with all that was committed, and with the blobs that it names', async () => {
    const store = await openStore({ path })
    await store.runs.create(sample.run('run-1'))
    await store.trajectories.append([sample.recorded('t1', 'run-1'), sample.recorded('t2')])
    const adapter = await putAdapter(store, 'adapter')
    const [left, latest, unnamed] = await Promise.all(
      ['left behind', 'latest', 'unnamed'].map((text) => store.blobs.put(Buffer.from(text))),
    )
    for (const [sequence, trainer] of [left, latest].entries()) {
      await store.runs.saveCheckpoint({ ...sample.checkpoint('run-1', sequence), blobs: { trainer: trainer ?? '' } })
    }
    await store.blobs.delete(left ?? '')
    await store.backup(copy)
    expect(readdirSync(copy).toSorted()).toEqual(['blobs', 'ratchet.db'])
    await store.trajectories.append([sample.recorded('t3')])
    await store.close()
    rmSync(join(folder, 'store'), { recursive: true })

    const copied = await openCopy()
    expect(await copied.trajectories.list({ limit: 9 })).toEqual([
      sample.recorded('t1', 'run-1'),
      sample.recorded('t2'),
    ])
    expect(Buffer.from(await copied.blobs.get(adapter)).toString()).toBe('adapter')
    expect(Buffer.from(await copied.blobs.get(latest ?? '')).toString()).toBe('latest')
    await expect(copied.blobs.get(unnamed ?? '')).rejects.toThrow(MissingBlobError)
    await copied.trajectories.append([sample.recorded('t4')])
    expect(await copied.trajectories.count({})).toBe(3)
    await copied.close()
  })

  it('is of one moment, while others write', async () => {
    const store = await openStore({ path })
    const appendTwo = (number: number) =>
      store.transaction(async (tx) => {
        await tx.trajectories.append([sample.recorded(`t${2 * number}`)])
        await new Promise((resolve) => setImmediate(resolve))
        await tx.trajectories.append([sample.recorded(`t${2 * number + 1}`)])
      })
    await Promise.all(Array.from({ length: 10 }, (_, i) => appendTwo(i)))
    const writing = Promise.all(Array.from({ length: 100 }, (_, i) => appendTwo(10 + i)))
    await store.backup(copy)
    await writing
    await store.close()
    const copied = await openCopy()
    const ids = (await copied.trajectories.list({ limit: 10_000 })).map(({ trajectory }) => trajectory.id)
    await copied.close()
    expect(ids.length).toBeGreaterThanOrEqual(20)
    expect(ids.length).toBeLessThan(220)
    expect(ids.length % 2).toBe(0)
    expect(ids).toEqual(ids.map((_, i) => `t${i}`))
  })

  it('can be made by a reader, while another process writes', async () => {
    const writer = await openStore({ path })
    await writer.trajectories.append([sample.recorded('t1')])
    const reader = await openStore({ path, readonly: true })
    await reader.backup(copy)
    await Promise.all([reader.close(), writer.close()])
    const copied = await openStore({ path: join(copy, 'ratchet.db'), readonly: true })
    expect(await copied.trajectories.count({})).toBe(1)
    await copied.close()
  })

  it('keeps what only lived in memory', async () => {
    const store = await openMemoryStore()
    await store.trajectories.append([sample.recorded('t1')])
    const adapter = await putAdapter(store, 'adapter')
    await store.backup(copy)
    await store.close()
    const copied = await openCopy()
    expect(await copied.trajectories.count({})).toBe(1)
    expect(await copied.blobs.get(adapter)).toHaveLength(7)
    await copied.close()
  })

  it('is not written over anything', async () => {
    const store = await openStore({ path })
    mkdirSync(copy, { recursive: true })
    await store.backup(copy)
    await expect(store.backup(copy)).rejects.toThrow(BackupFolderError)
    await expect(store.backup(join(folder, 'store'))).rejects.toThrow(BackupFolderError)
    const file = join(folder, 'file')
    writeFileSync(file, '')
    await expect(store.backup(file)).rejects.toThrow(BackupFolderError)
    await expect(store.backup(join(file, 'below'))).rejects.toThrow(BackupFolderError)
    await store.close()
  })

  it('fails whole when a blob that it needs is missing or damaged', async () => {
    const store = await openStore({ path })
    const adapter = await putAdapter(store, 'adapter')
    writeFileSync(placeOf(adapter), 'adaptor')
    await expect(store.backup(copy)).rejects.toThrow(CorruptBlobError)
    expect(readdirSync(copy)).toEqual([])
    rmSync(placeOf(adapter))
    await expect(store.backup(copy)).rejects.toThrow(MissingBlobError)
    expect(readdirSync(copy)).toEqual([])
    await store.blobs.put(Buffer.from('adapter'))
    await store.backup(copy)
    expect(existsSync(placeOf(adapter, copy))).toBe(true)
    await store.close()
  })

  it('starts again when a run moved on to its next checkpoint and deleted the blob of the one before', async () => {
    const store = await openStore({ path })
    await store.runs.create(sample.run('run-1'))
    const checkpoint = async (sequence: number) => {
      const trainer = await store.blobs.put(Buffer.from(`state ${sequence}`))
      await store.runs.saveCheckpoint({ ...sample.checkpoint('run-1', sequence), blobs: { trainer } })
      return trainer
    }
    let latest = await checkpoint(0)
    const reading = await openSqlite(path, { readOnly: true })
    const files = fileBlobs(join(folder, 'store', 'blobs'))
    let gets = 0
    const blobs = {
      ...files,
      async get(hash: BlobHash) {
        // Twice it happens between the copy of the rows and that of the blobs.
        if (++gets <= 2) {
          const before = latest
          latest = await checkpoint(gets)
          await store.blobs.delete(before)
        }
        return files.get(hash)
      },
    }
    await backUpSqlite({ path, reader: kyselyOver<Tables>(reading), blobs }, copy)
    reading.close()
    await store.close()
    expect(gets).toBe(3)
    const copied = await openCopy()
    expect((await copied.runs.latestCheckpoint(sample.run('run-1').id))?.sequence).toBe(2)
    expect(Buffer.from(await copied.blobs.get(latest)).toString()).toBe('state 2')
    await copied.close()
  })

  it('is refused when SQLite finds the copy damaged', async () => {
    const store = await openStore({ path })
    await store.trajectories.append(Array.from({ length: 100 }, (_, i) => sample.recorded(`t${i}`)))
    await store.close()
    const { database } = await openSqlite(path, { readOnly: true })
    const prepare = (statement: string): SqliteStatement => ({
      ...database.prepare(statement),
      run(parameters) {
        const result = database.prepare(statement).run(parameters)
        // A disk that loses a page of what it was given.
        const file = openSync(String(parameters[0]), 'r+')
        writeSync(file, Buffer.alloc(4096), 0, 4096, 10 * 4096)
        closeSync(file)
        return result
      },
    })
    const reader = new Kysely<Tables>({ dialect: new SqliteDialect({ database: { ...database, prepare } }) })
    await expect(backUpSqlite({ path, reader, blobs: fileBlobs(folder) }, copy)).rejects.toThrow(BackupCheckError)
    expect(readdirSync(copy)).toEqual([])
    database.close()
  })

  it('is left to the tools of a database that has some', async () => {
    const db = kyselyOver<Tables>(await openSqlite(':memory:'))
    const parts = { path: 'postgres://host/base', reader: db, writes: null, release: () => db.destroy() }
    const store = assembleStore({ ...parts, blobs: fileBlobs(folder) })
    await expect(store.backup(copy)).rejects.toThrow(NoBackupError)
    await expect(store.backup(copy)).rejects.toMatchObject({ hint: expect.stringContaining('pg_dump') })
    await store.close()
    await expect(store.backup(copy)).rejects.toThrow(ClosedStoreError)
  })
})
