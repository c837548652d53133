import type { Kysely } from 'kysely'
import type { Columns } from './engine.ts'
import type { Tables } from './tables.ts'

/** Sessions of canaries that were drawn for the audit, and what reviewers say of them. */
export async function auditCanaries(
  { schema }: Kysely<Tables>,
  { text, integer, double, time }: Columns,
): Promise<void> {
  await schema
    .createTable('audit_draws')
    .addColumn('id', text, (c) => c.primaryKey())
    .addColumn('canary', text, (c) => c.notNull().references('canaries.id'))
    .addColumn('sequence', integer, (c) => c.notNull())
    .addColumn('trajectory', text, (c) => c.notNull())
    .addColumn('at', time, (c) => c.notNull())
    .addUniqueConstraint('audit_draws_in_order', ['canary', 'sequence'])
    .execute()
  await schema.createIndex('audit_draws_of_trajectory').on('audit_draws').column('trajectory').execute()
  await schema
    .createTable('audit_labels')
    .addColumn('tenant', text, (c) => c.notNull())
    .addColumn('draw', text, (c) => c.notNull().references('audit_draws.id'))
    .addColumn('reviewer', text, (c) => c.notNull())
    .addColumn('by', text, (c) => c.notNull())
    .addColumn('truth', double)
    .addColumn('note', text, (c) => c.notNull())
    .addColumn('at', time, (c) => c.notNull())
    .addColumn('withdrawn_at', time)
    .addPrimaryKeyConstraint('audit_labels_key', ['draw', 'reviewer'])
    .execute()
  await schema.createIndex('audit_labels_of_reviewer').on('audit_labels').columns(['tenant', 'reviewer']).execute()
}
