import type { Kysely } from 'kysely'
import type { Columns } from './engine.ts'
import type { Tables } from './tables.ts'

/** Until when canaries are watched, and how their sessions were judged. */
export async function watchCanaries({ schema }: Kysely<Tables>, { text, integer, time }: Columns): Promise<void> {
  await schema.alterTable('canaries').addColumn('watched_until', time).execute()
  await schema
    .createTable('judged_sessions')
    .addColumn('canary', text, (c) => c.notNull().references('canaries.id'))
    .addColumn('sequence', integer, (c) => c.notNull())
    .addColumn('trajectory', text, (c) => c.notNull())
    .addColumn('reporters', text, (c) => c.notNull())
    .addColumn('judged', text, (c) => c.notNull())
    .addPrimaryKeyConstraint('judged_sessions_key', ['canary', 'sequence'])
    .execute()
  await schema
    .createIndex('judged_sessions_once')
    .unique()
    .on('judged_sessions')
    .columns(['trajectory', 'canary'])
    .execute()
  await schema
    .createIndex('trajectories_of_canary_by_beginning')
    .on('trajectories')
    .columns(['canary', 'started_at'])
    .where('canary', 'is not', null)
    .execute()
}
