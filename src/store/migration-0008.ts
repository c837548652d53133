import type { Kysely } from 'kysely'
import { z } from 'zod'
import type { Columns } from './engine.ts'
import type { Tables } from './tables.ts'

const Settings = z.object({ expiresAt: z.number().nullable() })

/** Keys of one look. */
const keysAtOnce = 500

/** Keys of sessions say in a column when they expire, so that those that have are found without a look at the others. */
export async function expireSessionKeys(db: Kysely<Tables>, { time }: Columns): Promise<void> {
  await db.schema.alterTable('api_keys').addColumn('expires_at', time).execute()
  for (let last = 0, more = true; more; ) {
    const rows = await db
      .selectFrom('api_keys')
      .select(['sequence', 'settings'])
      .where('session', 'is not', null)
      .where('sequence', '>', last)
      .orderBy('sequence')
      .limit(keysAtOnce)
      .execute()
    for (const { sequence, settings } of rows) {
      const { expiresAt } = Settings.parse(JSON.parse(settings))
      await db.updateTable('api_keys').set({ expires_at: expiresAt }).where('sequence', '=', sequence).execute()
    }
    last = rows.at(-1)?.sequence ?? last
    more = rows.length === keysAtOnce
  }
  await db.schema
    .createIndex('keys_by_expiry')
    .on('api_keys')
    .columns(['expires_at', 'sequence'])
    .where('expires_at', 'is not', null)
    .execute()
}
