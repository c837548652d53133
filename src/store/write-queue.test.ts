import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { makeTestDatabase, type TestDatabase } from '../../test/support/postgres.ts'
import { ContentionError, DiskFullError, UnreachableStoreError } from './errors/index.ts'
import { kyselyOverPostgres } from './postgres-driver.ts'
import { openPool } from './postgres-pool.ts'
import { kyselyOver, openSqlite } from './sqlite-driver.ts'
import type { Tables } from './tables.ts'
import { WriteQueue } from './write-queue.ts'

/** A queue on an empty table `notes`, and the statements that its connection was given. */
async function openQueue() {
  const connection = await openSqlite(':memory:')
  connection.exec('create table notes (text text primary key)')
  const statements: string[] = []
  const { database } = connection
  const watched = {
    ...connection,
    database: {
      close: () => database.close(),
      prepare(statement: string) {
        statements.push(statement)
        return database.prepare(statement)
      },
    },
  }
  const queue = new WriteQueue(kyselyOver<Tables>(watched))
  return {
    connection,
    queue,
    note: (text: string) => queue.together((db) => sql`insert into notes values (${text})`.execute(db)),
    notes: () => connection.all('select text from notes order by rowid').map((row) => (row as { text: string }).text),
    count: (statement: string) => statements.filter((given) => given === statement).length,
  }
}

it('commits all writes of one turn together', async () => {
  const { note, notes, count } = await openQueue()
  await Promise.all(Array.from({ length: 100 }, (_, i) => note(`n${i}`)))
  expect(notes()).toHaveLength(100)
  expect(count('commit')).toBe(1)
  await note('later')
  expect(count('commit')).toBe(2)
})

it('answers after the commit, never before', async () => {
  const { note, count } = await openQueue()
  let answered = 0
  const first = note('a').then(() => (answered = count('commit')))
  expect(answered).toBe(0)
  await first
  expect(answered).toBe(1)
})

it('commits the neighbours of a write that fails, in order', async () => {
  const { note, notes } = await openQueue()
  const outcomes = await Promise.allSettled(['a', 'b', 'a', 'c'].map(note))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
  expect(notes()).toEqual(['a', 'b', 'c'])
})

it('runs something between transactions, at its place, and says what it threw', async () => {
  const { connection, queue, note, notes, count } = await openQueue()
  const between = () => {
    // Refused within a transaction.
    connection.exec('vacuum')
    return [notes().length, count('begin immediate') - count('commit')]
  }
  const [, seen] = await Promise.all([note('a'), queue.between(between), note('b')])
  expect(seen).toEqual([1, 0])
  const failing = queue.between(() => {
    throw new Error('as asked')
  })
  await expect(Promise.all([failing, note('c')])).rejects.toThrow('as asked')
  await queue.drained()
  expect(notes()).toEqual(['a', 'b', 'c'])
})

it('gives a transaction a commit of its own, at its place', async () => {
  const { queue, note, notes, count } = await openQueue()
  let runs = 0
  const alone = async (text: string) =>
    queue.alone(async (db) => {
      runs += 1
      await sql`insert into notes values (${text})`.execute(db)
    })
  await Promise.all([note('a'), alone('b'), note('c'), note('d')])
  expect(notes()).toEqual(['a', 'b', 'c', 'd'])
  expect(count('commit')).toBe(3)
  await expect(alone('a')).rejects.toThrow()
  expect(runs).toBe(2)
})

it('bounds a batch, and still writes everything', async () => {
  const { note, notes, count } = await openQueue()
  await Promise.all(Array.from({ length: 1000 }, (_, i) => note(`n${i}`)))
  expect(notes()).toHaveLength(1000)
  expect(count('commit')).toBe(4)
})

it('says that the disk is full, keeps what fits, and goes on when there is room', async () => {
  const { connection, note, notes } = await openQueue()
  connection.exec('pragma max_page_count = 20')
  const outcomes = await Promise.allSettled(['a', 'x'.repeat(200_000), 'b'].map(note))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(DiskFullError)
  connection.exec('pragma max_page_count = 1000')
  await note('x'.repeat(200_000))
  expect(notes().map((text) => text.length)).toEqual([1, 1, 200_000])
})

it('writes in the order in which it was asked, whatever fails on the way', async () => {
  const { queue, note, notes, count } = await openQueue()
  await note('taken')
  const texts = Array.from({ length: 200 }, (_, i) => (i === 70 || i === 71 || i === 150 ? 'taken' : `n${i}`))
  const outcomes = await Promise.allSettled(texts.map(note))
  expect(outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([70, 71, 150])
  expect(notes()).toEqual(['taken', ...texts.filter((text) => text !== 'taken')])
  // What is before each that fails, and after the last: not a commit for every one of the rest.
  expect(count('commit')).toBe(1 + 3)
  await queue.drained()
})

it('tries again what another transaction was in the way of, but for a transaction, which runs once', async () => {
  const { queue, note, notes } = await openQueue()
  let inTheWay = 2
  const contended = async (db: Kysely<Tables>) => {
    await sql`insert into notes values (${`try ${inTheWay}`})`.execute(db)
    if (inTheWay-- > 0) throw new ContentionError('here')
  }
  await Promise.all([note('a'), queue.together(contended), note('b')])
  expect(notes()).toEqual(['a', 'try 0', 'b'])
  inTheWay = 1
  await expect(queue.alone(contended)).rejects.toThrow(ContentionError)
  expect(inTheWay).toBe(0)
})

it('fails a whole batch at once where the database is out of reach', async () => {
  const { queue } = await openQueue()
  let runs = 0
  const unreachable = async () => {
    runs += 1
    throw new UnreachableStoreError('here', 'it is gone')
  }
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => queue.together(unreachable)))
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
  expect(runs).toBe(1)
})

describe.skipIf(process.env['RATCHET_POSTGRES'] === 'absent')('with several lanes', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await makeTestDatabase()
    await database.execute('create schema ratchet; create table ratchet.notes (text text, transaction bigint)')
  })
  afterAll(() => database.drop())
  beforeEach(() => database.clear())

  /** A queue of three lanes; its writes take a while, each its own, and are marked by the transaction that they are in. */
  function openLanes() {
    const pool = openPool({ url: database.url, name: 'test', connections: 3, session: true })
    const db = kyselyOverPostgres<Tables>(pool, 'begin')
    const queue = new WriteQueue(db, { lanes: 3, batch: 4 })
    const running = new Set<string>()
    const seen = { most: 0, beside: new Set<string>() }
    const work = (text: string, seconds: number) => async (db: Kysely<Tables>) => {
      running.add(text)
      seen.most = Math.max(seen.most, running.size)
      if (running.has('alone')) for (const other of running) seen.beside.add(other)
      await sql`insert into ratchet.notes select ${text}, txid_current() from pg_sleep(${seconds})`.execute(db)
      running.delete(text)
    }
    return {
      seen,
      queue,
      db,
      note: (text: string, seconds = 0.02) => queue.together(work(text, seconds)),
      alone: () => queue.alone(work('alone', 0.05)),
      transactions: async () => {
        const rows = await database.execute(
          'select count(*)::int as n from ratchet.notes group by transaction order by 1',
        )
        return rows.map(({ n }) => n)
      },
    }
  }

  it('commits that many batches at once, and shares what waits among them', async () => {
    const { note, seen, db, transactions } = openLanes()
    // Long enough that a busy machine connects all three lanes while the first is at work.
    await Promise.all(Array.from({ length: 9 }, (_, i) => note(`n${i}`, 0.2)))
    expect(await transactions()).toEqual([3, 3, 3])
    expect(seen.most).toBe(3)
    await Promise.all(Array.from({ length: 30 }, (_, i) => note(`m${i}`)))
    expect(seen.most).toBe(3)
    expect(Math.max(...((await transactions()) as number[]))).toBeLessThanOrEqual(4)
    await db.destroy()
  })

  it('gives a transaction its place: after all that was asked before it, before all that was asked after it', async () => {
    const { note, alone, queue, seen, db } = openLanes()
    const order: string[] = []
    const answered = (text: string) => () => order.push(text)
    void note('slow', 0.2).then(answered('before'))
    void note('quick').then(answered('before'))
    void alone().then(answered('transaction'))
    void note('later').then(answered('after'))
    await queue.drained()
    expect(order).toEqual(['before', 'before', 'transaction', 'after'])
    expect([...seen.beside]).toEqual(['alone'])
    await db.destroy()
  })
})
