import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RatchetError } from '../errors/index.ts'
import {
  CorruptRecordError,
  CorruptStoreError,
  LockedStoreError,
  MissingStoreError,
  NewerSchemaError,
  OlderSchemaError,
  ReadOnlyStoreError,
  StoreFolderError,
} from './errors/index.ts'
import { openMemoryStore, openStore } from './open-store.ts'
import { openSqlite } from './sqlite-driver.ts'
import { sample, storeConformance } from './store.conformance.ts'
import { trafficConformance } from './traffic.conformance.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-store-'))
  path = join(folder, 'new', 'ratchet.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

storeConformance('SQLite file', () => openStore({ path }))
storeConformance('memory', openMemoryStore)
trafficConformance('SQLite file', () => openStore({ path }))

async function execute(sql: string): Promise<void> {
  const connection = await openSqlite(path)
  connection.exec(sql)
  connection.close()
}

describe('openStore', () => {
  it('refuses a folder, and names the file in it', async () => {
    for (const readonly of [false, true]) {
      const opened = openStore({ path: folder, readonly })
      await expect(opened).rejects.toThrow(StoreFolderError)
      await expect(opened).rejects.toMatchObject({ hint: `Give the file in it: ${join(folder, 'ratchet.db')}.` })
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it('finds everything again after it was closed', async () => {
    const first = await openStore({ path })
    await first.runs.create(sample.run('run-1'))
    await first.trajectories.append([sample.recorded('t1', 'run-1')])
    const hash = await first.blobs.put(Buffer.from('adapter'))
    await first.close()

    const second = await openStore({ path })
    expect(await second.trajectories.list({ limit: 10 })).toEqual([sample.recorded('t1', 'run-1')])
    expect(Buffer.from(await second.blobs.get(hash)).toString()).toBe('adapter')
    await second.close()
  })

  it('refuses a second writer and names the first; lets it in afterwards', async () => {
    const first = await openStore({ path })
    const refusal = await openStore({ path }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(LockedStoreError)
    expect((refusal as LockedStoreError).writer?.pid).toBe(process.pid)
    expect((refusal as LockedStoreError).message).toContain(`process ${process.pid} on`)
    await first.versions.put(sample.version('still mine'))
    await first.close()
    await (await openStore({ path })).close()
    expect(existsSync(`${path}.writer`)).toBe(false)
  })

  it('lets readers look on, and only look', async () => {
    const writer = await openStore({ path })
    const reader = await openStore({ path, readonly: true })
    await writer.versions.put(sample.version('a'))
    const hash = await writer.blobs.put(Buffer.from('bytes'))
    expect(await reader.versions.get(sample.version('a').id)).toEqual(sample.version('a'))
    expect((await reader.blobs.get(hash)).length).toBe(5)
    await expect(reader.versions.put(sample.version('b'))).rejects.toThrow(ReadOnlyStoreError)
    await expect(reader.blobs.put(Buffer.from('b'))).rejects.toThrow(ReadOnlyStoreError)
    await expect(reader.transaction(async () => {})).rejects.toThrow(ReadOnlyStoreError)
    await writer.close()
    expect(await reader.versions.get(sample.version('a').id)).toEqual(sample.version('a'))
    await reader.close()
  })

  it('does not make a store in order to read it', async () => {
    await expect(openStore({ path, readonly: true })).rejects.toThrow(MissingStoreError)
    expect(existsSync(path)).toBe(false)
  })

  it('refuses a store of a newer Ratchet, unchanged, for reading and for writing', async () => {
    await (await openStore({ path })).close()
    await execute("insert into migrations values ('9999-future', 1)")
    await expect(openStore({ path })).rejects.toThrow(NewerSchemaError)
    await expect(openStore({ path })).rejects.toThrow('9999-future')
    await expect(openStore({ path, readonly: true })).rejects.toThrow(NewerSchemaError)
  })

  it('does not read a store that it would have to migrate first', async () => {
    await (await openStore({ path })).close()
    await execute('delete from migrations')
    await expect(openStore({ path, readonly: true })).rejects.toThrow(OlderSchemaError)
  })

  it('leaves alone what is not a Ratchet store', async () => {
    mkdirSync(join(folder, 'new'))
    writeFileSync(path, 'a letter, not a database. '.repeat(100))
    await expect(openStore({ path })).rejects.toThrow(CorruptStoreError)
    await expect(openStore({ path, readonly: true })).rejects.toThrow(CorruptStoreError)
    rmSync(path)
    await execute('create table photos (id integer)')
    await expect(openStore({ path })).rejects.toThrow('tables: photos')
    expect(readdirSync(join(folder, 'new'))).not.toContain('ratchet.db.writer')
  })

  it('says that a truncated file is damaged', async () => {
    const store = await openStore({ path })
    await store.trajectories.append(Array.from({ length: 200 }, (_, i) => sample.recorded(`t${i}`)))
    await store.close()
    truncateSync(path, 40_000)
    const failure = await (async () => {
      const damaged = await openStore({ path })
      try {
        return await damaged.trajectories.list({ limit: 1000 })
      } finally {
        await damaged.close()
      }
    })().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(CorruptStoreError)
  })

  it('says which record is damaged', async () => {
    const store = await openStore({ path })
    await store.trajectories.append([sample.recorded('t1')])
    await store.versions.put(sample.version('a'))
    await store.close()
    await execute(`update trajectory_payloads set payload = '{"id":"t1"}'; update versions set value = '{'`)
    const damaged = await openStore({ path })
    await expect(damaged.trajectories.list({ limit: 1 })).rejects.toThrow(CorruptRecordError)
    await expect(damaged.trajectories.list({ limit: 1 })).rejects.toThrow('trajectory t1')
    await expect(damaged.versions.get(sample.version('a').id)).rejects.toThrow(CorruptRecordError)
    await damaged.close()
  })

  it('says that a path cannot be a store', async () => {
    writeFileSync(join(folder, 'new'), 'a file where the folder should be')
    const failure = await openStore({ path }).catch((error: unknown) => error)
    expect(RatchetError.is(failure) && failure.code).toBe('store/cannot-open')
  })
})
