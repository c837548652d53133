import type { Kysely } from 'kysely'
import type { Columns } from './engine.ts'
import type { Tables } from './tables.ts'

/** The level that each candidate of an agent is tested at. */
export async function levelCandidates(
  { schema }: Kysely<Tables>,
  { text, integer, double, time }: Columns,
): Promise<void> {
  await schema
    .createTable('candidate_levels')
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('candidate', integer, (c) => c.notNull())
    .addColumn('key', text, (c) => c.notNull())
    .addColumn('alpha', double, (c) => c.notNull())
    .addColumn('promotions', integer, (c) => c.notNull())
    .addColumn('promoted', integer, (c) => c.notNull())
    .addColumn('at', time, (c) => c.notNull())
    .addPrimaryKeyConstraint('candidate_levels_key', ['agent', 'candidate'])
    .execute()
  await schema.createIndex('levels_by_key').unique().on('candidate_levels').columns(['agent', 'key']).execute()
}
