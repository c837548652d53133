import type { Kysely } from 'kysely'
import type { Columns } from './engine.ts'
import type { Tables } from './tables.ts'

/** Who was erased a while ago, so that calls that began before cannot bring them back. */
export async function rememberErasures({ schema }: Kysely<Tables>, { text, time }: Columns): Promise<void> {
  await schema
    .createTable('erasures')
    .addColumn('what', text, (c) => c.primaryKey())
    .addColumn('at', time, (c) => c.notNull())
    .execute()
}
