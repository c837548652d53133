import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { kyselyOver, openSqlite } from './sqlite-driver.ts'
import type { Tables } from './tables.ts'
import { WriteQueue } from './write-queue.ts'

/** Asks for five writes at once; gives the order in which they were done, and what each was told. */
async function done(lanes: number) {
  const connection = await openSqlite(':memory:')
  connection.exec('create table notes (text text primary key)')
  const queue = new WriteQueue(kyselyOver<Tables>(connection), { lanes })
  const write = (name: string, touches?: string) =>
    queue.together(async (db) => {
      await sql`insert into notes values (${name})`.execute(db)
      return name
    }, touches)
  const told = await Promise.all([
    write('t2', 'calls of t2'),
    write('t1, one', 'calls of t1'),
    write('signals', 'signals 001'),
    write('anything'),
    write('t1, two', 'calls of t1'),
  ])
  const notes = connection.all('select text from notes order by rowid').map((row) => (row as { text: string }).text)
  connection.close()
  return { notes, told }
}

const told = ['t2', 't1, one', 'signals', 'anything', 't1, two']

it('writes of one transaction are done in the order of what they touch, where several run at once', async () => {
  // Two transactions: of the first three, and of the others.
  expect(await done(2)).toEqual({ notes: ['t1, one', 't2', 'signals', 'anything', 't1, two'], told })
})

it('writes are done in the order of arrival, where one transaction runs at a time', async () => {
  expect(await done(1)).toEqual({ notes: told, told })
})
