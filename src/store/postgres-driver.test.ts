import { type Kysely, sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { StoreError } from './errors/index.ts'
import { kyselyOverPostgres } from './postgres-driver.ts'
import { openPool } from './postgres-pool.ts'

interface Notes {
  notes: { text: string; size: number }
}

let database: TestDatabase
let db: Kysely<Notes>
beforeAll(async () => {
  database = await makeTestDatabase()
  await database.execute('create schema ratchet; create table ratchet.notes (text text primary key, size bigint)')
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.clear()
  db = kyselyOverPostgres<Notes>(openPool({ url: database.url, name: 'test', connections: 2, session: true }), 'begin')
})
afterEach(() => db.destroy())

const note = (text: string) => ({ text, size: text.length })
const notes = async () => (await database.execute('select text from ratchet.notes order by 1')).map(({ text }) => text)

it('never takes for committed what PostgreSQL rolled back, although the failure was caught', async () => {
  const writing = db.transaction().execute(async (tx) => {
    await tx.insertInto('notes').values(note('a')).execute()
    await sql`select 1 / 0`.execute(tx).catch(() => {})
  })
  await expect(writing).rejects.toThrow('division by zero')
  expect(await notes()).toEqual([])
})

it('fails what follows a failure in a transaction for that failure', async () => {
  const writing = db.transaction().execute(async (tx) => {
    await sql`select 1 / 0`.execute(tx).catch(() => {})
    await tx.insertInto('notes').values(note('a')).execute()
  })
  await expect(writing).rejects.toThrow('division by zero')
})

it('gives a connection back clean: a transaction that did not end ends with it', async () => {
  await db.connection().execute(async (connection) => {
    await sql`begin`.execute(connection)
    await connection.insertInto('notes').values(note('a')).execute()
  })
  for (let i = 0; i < 4; i++)
    await db.transaction().execute((tx) =>
      tx
        .insertInto('notes')
        .values(note(`${i}`))
        .execute(),
    )
  expect(await notes()).toEqual(['0', '1', '2', '3'])
})

it('waits for a statement that nobody waits for, and fails for it', async () => {
  const writing = db.transaction().execute(async (tx) => {
    await tx.insertInto('notes').values(note('a')).execute()
    sql`select 1 / 0 from pg_sleep(0.05)`.execute(tx).catch(() => {})
  })
  await expect(writing).rejects.toThrow('division by zero')
  expect(await notes()).toEqual([])
})

it('takes statements of a transaction that are asked for at once', async () => {
  await db.transaction().execute(async (tx) => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        tx
          .insertInto('notes')
          .values(note(`n${i}`))
          .execute(),
      ),
    )
  })
  expect(await notes()).toHaveLength(20)
})

it('gives numbers for numbers, also sums of large ones, and leaves the parsers of others alone', async () => {
  await db.transaction().execute((tx) =>
    tx
      .insertInto('notes')
      .values({ text: 'a', size: 2 ** 52 })
      .execute(),
  )
  const row = await db
    .selectFrom('notes')
    .select(({ fn }) => [fn.sum<number>('size').as('sum'), fn.countAll<number>().as('count'), fn.max('size').as('max')])
    .executeTakeFirstOrThrow()
  expect(row).toEqual({ sum: 2 ** 52, count: 1, max: 2 ** 52 })
  expect(await database.execute('select size from ratchet.notes')).toEqual([{ size: String(2 ** 52) }])
})

it('counts the rows that were written', async () => {
  const insert = (...texts: string[]) =>
    db.transaction().execute(async (tx) => {
      const { numInsertedOrUpdatedRows } = await tx
        .insertInto('notes')
        .values(texts.map(note))
        .onConflict((c) => c.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows
    })
  expect(await insert('a', 'b')).toBe(2n)
  expect(await insert('b', 'c')).toBe(1n)
  expect(await insert('c')).toBe(0n)
})

it('fails as a StoreError', async () => {
  await expect(sql`select nonsense`.execute(db)).rejects.toThrow(StoreError)
})
