import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { sqliteEngine } from './engine.ts'
import { expiredKeys } from './keys.ts'
import { migrate } from './migrate.ts'
import { migrations } from './migrations.ts'
import { openStore } from './open-store.ts'
import { kyselyOver, openSqlite } from './sqlite-driver.ts'
import type { Tables } from './tables.ts'
import { traffic } from './traffic.conformance.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-keys-'))
  path = join(folder, 'ratchet.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('keys of sessions of an older store expire, too', async () => {
  const connection = await openSqlite(path)
  const db = kyselyOver<Tables>(connection)
  await migrate({ db, engine: sqliteEngine, path }, migrations.slice(0, 5))
  const keys = [
    ...Array.from({ length: 1_100 }, (_, i) => traffic.key(`s${i}`, { session: `chat ${i}`, expiresAt: 10 + (i % 2) })),
    traffic.key('endless', { session: 'chat', expiresAt: null }),
    traffic.key('person', { expiresAt: 1 }),
  ]
  for (const { id, tenant, name, secretHash, session, createdAt, revokedAt, ...settings } of keys) {
    const row = { id, tenant, name, session, created_at: createdAt, revoked_at: revokedAt } as const
    const kept = { ...row, secret_hash: secretHash, settings: JSON.stringify(settings) }
    await db
      .insertInto('api_keys')
      .values(kept as never)
      .execute()
  }
  connection.close()

  const store = await openStore({ path, thread: 'main' })
  expect(await store.keys.get(keys[1]!.id)).toEqual(keys[1])
  expect(await store.keys.removeExpired(11, 5_000)).toBe(550)
  expect(await store.keys.get(keys[0]!.id)).toBeNull()
  expect(await store.keys.get(keys[1]!.id)).not.toBeNull()
  expect(await store.keys.removeExpired(Number.MAX_SAFE_INTEGER, 5_000)).toBe(550)
  expect((await store.keys.list({ limit: 9 })).map(({ id }) => id)).toEqual(['person', 'endless'])
  await store.close()
})

it('those that expired are found in an index', async () => {
  await (await openStore({ path, thread: 'main' })).close()
  const connection = await openSqlite(path)
  const { sql } = expiredKeys(kyselyOver<Tables>(connection), 1, 2).compile()
  const plan = connection.all(`explain query plan ${sql.replace('?', '1').replace('?', '2')}`)
  const steps = plan.map((row) => (row as { detail: string }).detail)
  expect(steps).toEqual([expect.stringMatching(/^SEARCH api_keys USING INDEX keys_by_expiry/)])
  connection.close()
})
