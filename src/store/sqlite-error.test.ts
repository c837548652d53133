import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  CorruptStoreError,
  DiskFullError,
  ReadOnlyStoreError,
  StoreError,
  UnknownReferenceError,
} from './errors/index.ts'
import { openSqlite, type SqliteConnection } from './sqlite-driver.ts'
import { BusyError, storeErrorOf } from './sqlite-error.ts'

let folder: string
let path: string
let connection: SqliteConnection
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-sqlite-'))
  path = join(folder, 'a.db')
  connection = await openSqlite(path)
  connection.exec('pragma foreign_keys = on')
  connection.exec('create table a (id integer primary key, text text); create table b (a references a (id))')
  const insert = connection.database.prepare('insert into a (text) values (?)')
  connection.exec('begin')
  for (let i = 0; i < 200; i++) insert.run(['x'.repeat(200)])
  connection.exec('commit')
})
afterEach(() => {
  connection.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What each way to run a statement throws: the drivers make their errors in several places. */
async function failures(sql: string, on = connection): Promise<readonly unknown[]> {
  const ways = [() => on.exec(sql), () => on.database.prepare(sql).run([]), () => on.all(`${sql} returning *`)]
  return Promise.all(ways.map(async (way) => way())).then(
    () => [],
    () =>
      Promise.all(
        ways.map((way) =>
          Promise.resolve()
            .then(way)
            .catch((error: unknown) => error),
        ),
      ),
  )
}

describe('a failure of SQLite', () => {
  it('is one kind of StoreError, however the statement was run', async () => {
    const reader = await openSqlite(path, { readOnly: true })
    const insert = "insert into a (text) values ('x')"
    for (const failure of await failures(insert, reader)) expect(failure).toBeInstanceOf(ReadOnlyStoreError)
    reader.close()

    const dangling = await failures('insert into b values (9999)')
    expect(dangling).toHaveLength(3)
    for (const failure of dangling) expect(failure).toBeInstanceOf(UnknownReferenceError)

    connection.exec('pragma max_page_count = 20')
    const full = await failures(`insert into a (text) values ('${'x'.repeat(100_000)}')`)
    expect(full).toHaveLength(3)
    for (const failure of full) expect(failure).toBeInstanceOf(DiskFullError)

    const other = await openSqlite(path)
    other.exec('pragma busy_timeout = 0')
    connection.exec('begin exclusive')
    const busy = await failures(insert, other)
    expect(busy).toHaveLength(3)
    for (const failure of busy) expect(failure).toBeInstanceOf(BusyError)
    connection.exec('rollback')
    other.close()
  })

  it('tells damage from what never was a database, also where rows are read', async () => {
    truncateSync(path, 20_000)
    const damaged = await openSqlite(path, { readOnly: true })
    expect(() => damaged.all('select count(text) from a')).toThrow(CorruptStoreError)
    damaged.close()
    const letter = join(folder, 'letter')
    writeFileSync(letter, 'a letter, not a database. '.repeat(100))
    const read = await openSqlite(letter, { readOnly: true })
    expect(() => read.all('select 1 from sqlite_schema')).toThrow(CorruptStoreError)
    read.close()
  })

  it('tells a disk that fails from one that is full', () => {
    const ioErrorWrite = storeErrorOf(Object.assign(new Error('disk I/O error'), { errcode: 778 }), path)
    expect(ioErrorWrite.code).toBe('store/disk')
    expect(storeErrorOf(new Error('disk I/O error'), path).code).toBe('store/disk')
    const indexSize = storeErrorOf(Object.assign(new Error('disk I/O error'), { errcode: 4874 }), path)
    expect(indexSize).toBeInstanceOf(DiskFullError)
  })

  it('that no caller can act on keeps its words', () => {
    const failure = storeErrorOf(Object.assign(new Error('no such table: x'), { errcode: 1 }), path)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).toMatchObject({ code: 'store/sqlite', message: expect.stringContaining('no such table: x') })
  })
})
