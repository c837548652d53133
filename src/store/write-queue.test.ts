import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { DiskFullError } from './errors/index.ts'
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
