import { type Kysely, sql } from 'kysely'
import type { Columns } from './engine.ts'
import type { Tables } from './tables.ts'

/** What learning from traffic keeps: canaries, what they assigned, pins, leases and alerts. */
export async function learnFromTraffic(
  db: Kysely<Tables>,
  { text, integer, bigInteger, time, double, sequence }: Columns,
): Promise<void> {
  const { schema } = db

  await schema.alterTable('trajectories').addColumn('canary', text).execute()
  await schema
    .createIndex('trajectories_of_canary')
    .on('trajectories')
    .columns(['canary', 'updated_at'])
    .where('canary', 'is not', null)
    .execute()

  await schema
    .createTable('pins')
    .addColumn('agent', text, (c) => c.primaryKey())
    .addColumn('release', text, (c) => c.notNull().references('releases.id'))
    .addColumn('reason', text, (c) => c.notNull())
    .addColumn('at', time, (c) => c.notNull())
    .execute()

  await schema
    .createTable('serving_revision')
    .addColumn('id', integer, (c) => c.primaryKey())
    .addColumn('revision', bigInteger, (c) => c.notNull())
    .execute()

  await schema
    .createTable('canaries')
    .addColumn('sequence', ...sequence)
    .addColumn('id', text, (c) => c.notNull().unique())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('status', text, (c) => c.notNull())
    .addColumn('baseline', text, (c) => c.notNull().references('releases.id'))
    .addColumn('admission', text, (c) => c.references('receipts.id'))
    .addColumn('receipt', text, (c) => c.references('receipts.id'))
    .addColumn('canary', text, (c) => c.notNull())
    .execute()
  await schema.createIndex('canaries_of_agent').on('canaries').columns(['agent', 'sequence']).execute()
  await schema
    .createIndex('canaries_running')
    .unique()
    .on('canaries')
    .column('agent')
    .where(sql<boolean>`status = 'running'`)
    .execute()

  await schema
    .createTable('canary_events')
    .addColumn('canary', text, (c) => c.notNull().references('canaries.id'))
    .addColumn('sequence', integer, (c) => c.notNull())
    .addColumn('type', text, (c) => c.notNull())
    .addColumn('share', double, (c) => c.notNull())
    .addColumn('reasons', text, (c) => c.notNull())
    .addColumn('evidence', text, (c) => c.notNull())
    .addColumn('at', time, (c) => c.notNull())
    .addPrimaryKeyConstraint('canary_events_key', ['canary', 'sequence'])
    .execute()

  await schema
    .createTable('leases')
    .addColumn('name', text, (c) => c.primaryKey())
    .addColumn('holder', text)
    .addColumn('token', bigInteger, (c) => c.notNull())
    .addColumn('expires_at', time, (c) => c.notNull())
    .execute()

  await schema
    .createTable('alerts')
    .addColumn('sequence', ...sequence)
    .addColumn('id', text, (c) => c.notNull().unique())
    .addColumn('agent', text, (c) => c.notNull())
    .addColumn('kind', text, (c) => c.notNull())
    .addColumn('name', text, (c) => c.notNull())
    .addColumn('message', text, (c) => c.notNull())
    .addColumn('evidence', text, (c) => c.notNull())
    .addColumn('run', text)
    .addColumn('at', time, (c) => c.notNull())
    .execute()
  await schema.createIndex('alerts_of_agent').on('alerts').columns(['agent', 'at']).execute()
  await schema.createIndex('alerts_by_time').on('alerts').column('at').execute()
}
