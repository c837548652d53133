import { expect, it } from 'vitest'
import type { Access, Work } from './access.ts'
import { eraseItems, eraseLateItems } from './derived-items.ts'
import { sqliteEngine } from './engine.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { kyselyOver, openSqlite } from './sqlite-driver.ts'
import type { Tables } from './tables.ts'

it('an erasure holds one value at a time, however many there are', async () => {
  const connection = await openSqlite(':memory:')
  const db = kyselyOver<Tables>(connection)
  await migrate({ db, engine: sqliteEngine, path: ':memory:' }, migrations)
  // The runs of the checkpoints are not here.
  connection.exec('PRAGMA foreign_keys = OFF')
  const valueOf = (i: number) =>
    JSON.stringify({ items: [{ derivedFrom: ['t1'] }, { derivedFrom: [`kept-${i}`] }], text: 'long '.repeat(20) })
  for (let i = 0; i < 120; i++) {
    const id = String(i).padStart(3, '0')
    const version = { id, parameter: 'cases', kind: 'memory', value: valueOf(i), parents: '[]', run: null }
    await db.insertInto('versions').values(version).execute()
    const checkpoint = { run: `run-${id}`, sequence: 0, at: 0, state: valueOf(i), blobs: '[]' }
    await db.insertInto('checkpoints').values(checkpoint).execute()
  }
  const lengths: number[] = []
  const access: Access = {
    async read<T>(work: Work<T>) {
      const result = await work(db)
      lengths.push(JSON.stringify(result ?? null).length)
      return result
    },
    write: (work) => work(db),
    settle: async () => {},
    sweep: () => Promise.reject(new Error('not here')),
  }
  expect(await eraseItems(access, new Set(['t1']), false)).toBe(120)
  await eraseLateItems(access, new Set(['t1']))
  const values = await db.selectFrom('versions').select('value').execute()
  const states = await db.selectFrom('checkpoints').select('state').execute()
  const left = JSON.stringify({ items: [{ derivedFrom: ['kept-7'] }], text: 'long '.repeat(20) })
  expect([values[7]?.value, states[7]?.state]).toEqual([left, left])
  // 50 names take some 1,500 characters, 50 values 8,000 and more.
  expect(Math.max(...lengths)).toBeLessThan(3_000)
  connection.close()
})
