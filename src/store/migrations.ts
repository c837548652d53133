import type { Kysely } from 'kysely'
import type { Tables } from './tables.ts'

/** One step of the schema, forward only. A released one is never edited: the next change is a new one. */
export interface Migration {
  readonly name: string
  up(db: Kysely<Tables>): Promise<void>
}

/** Every migration, in the order in which they run. */
export const migrations: readonly Migration[] = [
  {
    name: '0001-loop',
    async up(db) {
      const { schema } = db

      await schema
        .createTable('versions')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('parameter', 'text', (c) => c.notNull())
        .addColumn('kind', 'text', (c) => c.notNull())
        .addColumn('value', 'text', (c) => c.notNull())
        .addColumn('parents', 'text', (c) => c.notNull())
        .addColumn('run', 'text')
        .execute()

      await schema
        .createTable('runs')
        .addColumn('sequence', 'integer', (c) => c.primaryKey().autoIncrement())
        .addColumn('id', 'text', (c) => c.notNull().unique())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('config', 'text', (c) => c.notNull())
        .addColumn('seed', 'bigint', (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull())
        .addColumn('versions_in', 'text', (c) => c.notNull())
        .addColumn('versions_out', 'text')
        .addColumn('receipt', 'text')
        .addColumn('release', 'text')
        .addColumn('failure', 'text')
        .addColumn('started_at', 'bigint', (c) => c.notNull())
        .addColumn('ended_at', 'bigint')
        .execute()
      await schema.createIndex('runs_of_agent').on('runs').columns(['agent', 'sequence']).execute()

      await schema
        .createTable('run_events')
        .addColumn('run', 'text', (c) => c.notNull().references('runs.id'))
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('type', 'text', (c) => c.notNull())
        .addColumn('data', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('run_events_key', ['run', 'sequence'])
        .execute()

      await schema
        .createTable('checkpoints')
        .addColumn('run', 'text', (c) => c.notNull().references('runs.id'))
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('state', 'text', (c) => c.notNull())
        .addColumn('blobs', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('checkpoints_key', ['run', 'sequence'])
        .execute()

      await schema
        .createTable('trajectories')
        .addColumn('sequence', 'integer', (c) => c.primaryKey().autoIncrement())
        .addColumn('id', 'text', (c) => c.notNull().unique())
        .addColumn('run', 'text', (c) => c.references('runs.id'))
        .addColumn('task', 'text', (c) => c.notNull())
        .addColumn('task_group', 'text', (c) => c.notNull())
        .addColumn('split', 'text', (c) => c.notNull())
        .addColumn('tier', 'text')
        .addColumn('stop_reason', 'text', (c) => c.notNull())
        .addColumn('reward_status', 'text', (c) => c.notNull())
        .addColumn('reward_value', 'double precision')
        .addColumn('reward', 'text', (c) => c.notNull())
        .addColumn('started_at', 'bigint', (c) => c.notNull())
        .addColumn('seconds', 'double precision', (c) => c.notNull())
        .execute()
      await schema.createIndex('trajectories_of_run').on('trajectories').columns(['run', 'sequence']).execute()

      await schema
        .createTable('trajectory_payloads')
        .addColumn('trajectory', 'text', (c) => c.primaryKey().references('trajectories.id'))
        .addColumn('payload', 'text', (c) => c.notNull())
        .execute()

      await schema
        .createTable('signals')
        .addColumn('key', 'text', (c) => c.primaryKey())
        .addColumn('trajectory', 'text', (c) => c.notNull())
        .addColumn('node', 'text')
        .addColumn('source', 'text', (c) => c.notNull())
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('value', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .execute()
      await schema.createIndex('signals_of_trajectory').on('signals').columns(['trajectory', 'at']).execute()

      await schema
        .createTable('receipts')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('decision', 'text', (c) => c.notNull())
        .addColumn('receipt', 'text', (c) => c.notNull())
        .execute()

      await schema
        .createTable('holdout_uses')
        .addColumn('holdout', 'text', (c) => c.notNull())
        .addColumn('use', 'integer', (c) => c.notNull())
        .addColumn('alpha', 'double precision', (c) => c.notNull())
        .addColumn('run', 'text')
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('holdout_uses_key', ['holdout', 'use'])
        .execute()

      await schema
        .createTable('holdout_tasks')
        .addColumn('task', 'text', (c) => c.notNull())
        .addColumn('holdout', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('holdout_tasks_key', ['task', 'holdout'])
        .execute()

      await schema
        .createTable('releases')
        .addColumn('sequence', 'integer', (c) => c.primaryKey().autoIncrement())
        .addColumn('id', 'text', (c) => c.notNull().unique())
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('versions', 'text', (c) => c.notNull())
        .addColumn('receipt', 'text', (c) => c.references('receipts.id'))
        .addColumn('run', 'text')
        .addColumn('created_at', 'bigint', (c) => c.notNull())
        .execute()
      await schema.createIndex('releases_of_agent').on('releases').columns(['agent', 'sequence']).execute()

      await schema
        .createTable('activations')
        .addColumn('agent', 'text', (c) => c.notNull())
        .addColumn('generation', 'integer', (c) => c.notNull())
        .addColumn('release', 'text', (c) => c.notNull().references('releases.id'))
        .addColumn('reason', 'text', (c) => c.notNull())
        .addColumn('at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('activations_key', ['agent', 'generation'])
        .execute()
    },
  },
]
