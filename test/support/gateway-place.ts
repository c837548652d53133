import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RecordedTrajectory, Store } from '../../src/core/index.ts'
import { openStore, type StoreLocation } from '../../src/store/index.ts'
import { openSqlite } from '../../src/store/sqlite-driver.ts'
import { makeTestDatabase } from './postgres.ts'

/** A place for a gateway's store that is not there yet, and the database's own view of it. */
export interface GatewayPlace {
  /** What `--store` takes. */
  readonly store: string
  readonly location: StoreLocation
  /** What the database itself says is wrong with its files; `[]` when nothing is. */
  readonly damage: () => Promise<readonly unknown[]>
  /** Why each recorded call ended. */
  readonly stopReasons: () => Promise<ReadonlyMap<string, string>>
  /** Half answers that nobody has taken up. */
  readonly pending: () => Promise<number>
  readonly remove: () => Promise<void>
}

export function sqlitePlace(): GatewayPlace {
  const folder = mkdtempSync(join(tmpdir(), 'ratchet-gateway-store-'))
  const path = join(folder, 'ratchet.db')
  const query = async (sql: string): Promise<Record<string, unknown>[]> => {
    const database = await openSqlite(path, { readOnly: true })
    try {
      return database.all(sql) as Record<string, unknown>[]
    } finally {
      database.close()
    }
  }
  return {
    store: folder,
    location: { path },
    damage: async () => [
      ...(await query('pragma integrity_check')).filter((row) => row['integrity_check'] !== 'ok'),
      ...(await query('pragma foreign_key_check')),
    ],
    stopReasons: async () =>
      reasonsIn(await query(`select call, json_extract(payload, '$.stopReason') as reason from trajectory_parts`)),
    pending: async () => Number((await query('select count(*) as n from pending_calls'))[0]?.['n']),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

export async function postgresPlace(): Promise<GatewayPlace> {
  const database = await makeTestDatabase()
  const { url } = database
  return {
    store: url,
    location: { url },
    damage: () => Promise.resolve([]),
    stopReasons: async () =>
      reasonsIn(
        await database.execute(`select call, payload::json ->> 'stopReason' as reason from ratchet.trajectory_parts`),
      ),
    pending: async () => Number((await database.execute('select count(*) as n from ratchet.pending_calls'))[0]?.['n']),
    remove: database.drop,
  }
}

const reasonsIn = (rows: readonly Record<string, unknown>[]) =>
  new Map(rows.map(({ call, reason }) => [String(call), String(reason)]))

/** Looks into a store while others may write it. */
export async function reading<T>({ location }: GatewayPlace, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ ...location, readonly: true })
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

/** Every trajectory of a store, in the order of recording; each is parsed, so none is unreadable. */
export async function allTrajectories(store: Store): Promise<readonly RecordedTrajectory[]> {
  const all: RecordedTrajectory[] = []
  for (;;) {
    const last = all.at(-1)
    const page = await store.trajectories.list({ limit: 200, ...(last ? { after: last.trajectory.id } : {}) })
    all.push(...page)
    if (page.length < 200) return all
  }
}
