import type { Kysely } from 'kysely'
import type { Columns, ColumnType } from './engine.ts'
import { learnFromTraffic } from './migration-0004.ts'
import { watchCanaries } from './migration-0005.ts'
import { rememberErasures } from './migration-0006.ts'
import { expireSessionKeys } from './migration-0008.ts'
import { claimRequests } from './migration-0009.ts'
import { levelCandidates } from './migration-0010.ts'
import { auditCanaries } from './migration-0011.ts'
import type { Tables } from './tables.ts'

/** One step of the schema, forward only. A released one is never edited: the next change is a new one. */
export interface Migration {
  readonly name: string
  up(db: Kysely<Tables>, columns: Columns): Promise<void>
}

/** Every migration, in the order in which they run. */
export const migrations: readonly Migration[] = [
  {
    name: '0001-loop',
    async up(db, { text, integer, bigInteger, time, double, sequence, bytes }) {
      const { schema } = db

      await schema
        .createTable('versions')
        .addColumn('id', text, (c) => c.primaryKey())
        .addColumn('parameter', text, (c) => c.notNull())
        .addColumn('kind', text, (c) => c.notNull())
        .addColumn('value', text, (c) => c.notNull())
        .addColumn('parents', text, (c) => c.notNull())
        .addColumn('run', text)
        .execute()

      await schema
        .createTable('runs')
        .addColumn('sequence', ...sequence)
        .addColumn('id', text, (c) => c.notNull().unique())
        .addColumn('agent', text, (c) => c.notNull())
        .addColumn('config', text, (c) => c.notNull())
        .addColumn('seed', bigInteger, (c) => c.notNull())
        .addColumn('status', text, (c) => c.notNull())
        .addColumn('versions_in', text, (c) => c.notNull())
        .addColumn('versions_out', text)
        .addColumn('receipt', text)
        .addColumn('release', text)
        .addColumn('failure', text)
        .addColumn('started_at', time, (c) => c.notNull())
        .addColumn('ended_at', time)
        .execute()
      await schema.createIndex('runs_of_agent').on('runs').columns(['agent', 'sequence']).execute()

      await schema
        .createTable('run_events')
        .addColumn('run', text, (c) => c.notNull().references('runs.id'))
        .addColumn('sequence', integer, (c) => c.notNull())
        .addColumn('type', text, (c) => c.notNull())
        .addColumn('data', text, (c) => c.notNull())
        .addColumn('at', time, (c) => c.notNull())
        .addPrimaryKeyConstraint('run_events_key', ['run', 'sequence'])
        .execute()

      await schema
        .createTable('checkpoints')
        .addColumn('run', text, (c) => c.notNull().references('runs.id'))
        .addColumn('sequence', integer, (c) => c.notNull())
        .addColumn('state', text, (c) => c.notNull())
        .addColumn('blobs', text, (c) => c.notNull())
        .addColumn('at', time, (c) => c.notNull())
        .addPrimaryKeyConstraint('checkpoints_key', ['run', 'sequence'])
        .execute()

      await schema
        .createTable('trajectories')
        .addColumn('sequence', ...sequence)
        .addColumn('id', text, (c) => c.notNull().unique())
        .addColumn('run', text, (c) => c.references('runs.id'))
        .addColumn('task', text, (c) => c.notNull())
        .addColumn('task_group', text, (c) => c.notNull())
        .addColumn('split', text, (c) => c.notNull())
        .addColumn('tier', text)
        .addColumn('stop_reason', text, (c) => c.notNull())
        .addColumn('reward_status', text, (c) => c.notNull())
        .addColumn('reward_value', double)
        .addColumn('reward', text, (c) => c.notNull())
        .addColumn('started_at', time, (c) => c.notNull())
        .addColumn('seconds', double, (c) => c.notNull())
        .execute()
      await schema.createIndex('trajectories_of_run').on('trajectories').columns(['run', 'sequence']).execute()

      await schema
        .createTable('trajectory_payloads')
        .addColumn('trajectory', text, (c) => c.primaryKey().references('trajectories.id'))
        .addColumn('payload', text, (c) => c.notNull())
        .execute()

      await schema
        .createTable('signals')
        .addColumn('key', text, (c) => c.primaryKey())
        .addColumn('trajectory', text, (c) => c.notNull())
        .addColumn('node', text)
        .addColumn('source', text, (c) => c.notNull())
        .addColumn('name', text, (c) => c.notNull())
        .addColumn('value', text, (c) => c.notNull())
        .addColumn('at', time, (c) => c.notNull())
        .execute()
      await schema.createIndex('signals_of_trajectory').on('signals').columns(['trajectory', 'at']).execute()

      await schema
        .createTable('receipts')
        .addColumn('id', text, (c) => c.primaryKey())
        .addColumn('agent', text, (c) => c.notNull())
        .addColumn('decision', text, (c) => c.notNull())
        .addColumn('receipt', text, (c) => c.notNull())
        .execute()

      await schema
        .createTable('holdout_uses')
        .addColumn('holdout', text, (c) => c.notNull())
        .addColumn('use', integer, (c) => c.notNull())
        .addColumn('alpha', double, (c) => c.notNull())
        .addColumn('run', text)
        .addColumn('at', time, (c) => c.notNull())
        .addPrimaryKeyConstraint('holdout_uses_key', ['holdout', 'use'])
        .execute()

      await schema
        .createTable('holdout_tasks')
        .addColumn('task', text, (c) => c.notNull())
        .addColumn('holdout', text, (c) => c.notNull())
        .addPrimaryKeyConstraint('holdout_tasks_key', ['task', 'holdout'])
        .execute()

      await schema
        .createTable('releases')
        .addColumn('sequence', ...sequence)
        .addColumn('id', text, (c) => c.notNull().unique())
        .addColumn('agent', text, (c) => c.notNull())
        .addColumn('versions', text, (c) => c.notNull())
        .addColumn('receipt', text, (c) => c.references('receipts.id'))
        .addColumn('run', text)
        .addColumn('created_at', time, (c) => c.notNull())
        .execute()
      await schema.createIndex('releases_of_agent').on('releases').columns(['agent', 'sequence']).execute()

      await schema
        .createTable('activations')
        .addColumn('agent', text, (c) => c.notNull())
        .addColumn('generation', integer, (c) => c.notNull())
        .addColumn('release', text, (c) => c.notNull().references('releases.id'))
        .addColumn('reason', text, (c) => c.notNull())
        .addColumn('at', time, (c) => c.notNull())
        .addPrimaryKeyConstraint('activations_key', ['agent', 'generation'])
        .execute()

      if (bytes !== null) {
        await schema
          .createTable('blobs')
          .addColumn('hash', text, (c) => c.primaryKey())
          .execute()
        await schema
          .createTable('blob_chunks')
          .addColumn('hash', text, (c) => c.notNull().references('blobs.hash').onDelete('cascade'))
          .addColumn('part', integer, (c) => c.notNull())
          .addColumn('bytes', bytes, (c) => c.notNull())
          .addPrimaryKeyConstraint('blob_chunks_key', ['hash', 'part'])
          .execute()
      }
    },
  },
  {
    name: '0002-traffic',
    async up(db, { text, integer, time, sequence }) {
      const { schema } = db

      const added: readonly [string, ColumnType, string | number | null][] = [
        ['origin', text, 'rollout'],
        ['tenant', text, 'default'],
        ['session', text, null],
        ['agent', text, null],
        ['subject', text, null],
        ['train', integer, 1],
        ['instruction', text, ''],
        ['updated_at', time, 0],
        ['head', text, null],
      ]
      for (const [name, type, initial] of added) {
        await schema
          .alterTable('trajectories')
          .addColumn(name, type, (c) => (initial === null ? c : c.notNull().defaultTo(initial)))
          .execute()
      }
      await db
        .updateTable('trajectories')
        .set('updated_at', (eb) => eb.ref('started_at'))
        .execute()
      await schema.createIndex('trajectories_of_tenant').on('trajectories').columns(['tenant', 'updated_at']).execute()
      await schema.createIndex('trajectories_by_change').on('trajectories').column('updated_at').execute()
      const named = [
        ['session', 'tenant'],
        ['subject', 'tenant'],
        ['agent', 'updated_at'],
      ] as const
      for (const [name, then] of named) {
        await schema
          .createIndex(`trajectories_of_${name}`)
          .on('trajectories')
          .columns([name, then])
          .where(name, 'is not', null)
          .execute()
      }

      await schema
        .createTable('trajectory_parts')
        .addColumn('sequence', ...sequence)
        .addColumn('call', text, (c) => c.notNull().unique())
        .addColumn('trajectory', text, (c) => c.notNull().references('trajectories.id'))
        .addColumn('payload', text, (c) => c.notNull())
        .addColumn('at', time, (c) => c.notNull())
        .execute()
      await schema
        .createIndex('parts_of_trajectory')
        .on('trajectory_parts')
        .columns(['trajectory', 'sequence'])
        .execute()

      await schema
        .createTable('produced_turns')
        .addColumn('sequence', ...sequence)
        .addColumn('tenant', text, (c) => c.notNull())
        .addColumn('api_key', text, (c) => c.notNull())
        .addColumn('digest', text, (c) => c.notNull())
        .addColumn('trajectory', text, (c) => c.notNull().references('trajectories.id'))
        .addColumn('node', text, (c) => c.notNull())
        .execute()
      await schema
        .createIndex('turns_by_digest')
        .on('produced_turns')
        .columns(['digest', 'api_key', 'tenant', 'sequence'])
        .execute()
      await schema.createIndex('turns_of_trajectory').on('produced_turns').column('trajectory').execute()

      await schema
        .createTable('request_identities')
        .addColumn('tenant', text, (c) => c.notNull())
        .addColumn('api_key', text, (c) => c.notNull())
        .addColumn('identity', text, (c) => c.notNull())
        .addColumn('body', text, (c) => c.notNull())
        .addColumn('trajectory', text, (c) => c.notNull().references('trajectories.id'))
        .addColumn('call', text, (c) => c.notNull())
        .addColumn('at', time, (c) => c.notNull())
        .addPrimaryKeyConstraint('request_identities_key', ['tenant', 'api_key', 'identity'])
        .execute()
      await schema.createIndex('identities_of_trajectory').on('request_identities').column('trajectory').execute()

      await schema
        .createTable('pending_calls')
        .addColumn('call', text, (c) => c.primaryKey())
        .addColumn('gateway', text, (c) => c.notNull())
        .addColumn('trajectory', text, (c) => c.notNull())
        .addColumn('payload', text, (c) => c.notNull())
        .addColumn('updated_at', time, (c) => c.notNull())
        .execute()

      await schema
        .createTable('api_keys')
        .addColumn('sequence', ...sequence)
        .addColumn('id', text, (c) => c.notNull().unique())
        .addColumn('tenant', text, (c) => c.notNull())
        .addColumn('name', text, (c) => c.notNull())
        .addColumn('secret_hash', text, (c) => c.notNull())
        .addColumn('session', text)
        .addColumn('settings', text, (c) => c.notNull())
        .addColumn('created_at', time, (c) => c.notNull())
        .addColumn('revoked_at', time)
        .execute()
      await schema.createIndex('keys_of_session').on('api_keys').columns(['session', 'sequence']).execute()

      // Nothing wrote signals before the gateway: their key becomes the tenant's own, and they say who reports.
      await schema.dropTable('signals').execute()
      await schema
        .createTable('signals')
        .addColumn('tenant', text, (c) => c.notNull())
        .addColumn('key', text, (c) => c.notNull())
        .addColumn('trajectory', text, (c) => c.notNull())
        .addColumn('node', text)
        .addColumn('source', text, (c) => c.notNull())
        .addColumn('reporter', text, (c) => c.notNull())
        .addColumn('name', text, (c) => c.notNull())
        .addColumn('value', text, (c) => c.notNull())
        .addColumn('at', time, (c) => c.notNull())
        .addColumn('received_at', time, (c) => c.notNull())
        .addPrimaryKeyConstraint('signals_key', ['tenant', 'key'])
        .execute()
      await schema
        .createIndex('signals_of_trajectory')
        .on('signals')
        .columns(['trajectory', 'tenant', 'reporter'])
        .execute()
      await schema
        .createIndex('signals_of_reporter')
        .on('signals')
        .columns(['reporter', 'tenant', 'received_at'])
        .execute()
      await schema
        .createTable('signal_locks')
        .addColumn('slot', integer, (c) => c.primaryKey())
        .execute()
    },
  },
  {
    name: '0003-subjects',
    async up({ schema }, { text }) {
      await schema
        .createTable('further_subjects')
        .addColumn('subject', text, (c) => c.notNull())
        .addColumn('trajectory', text, (c) => c.notNull().references('trajectories.id'))
        .addPrimaryKeyConstraint('further_subjects_key', ['subject', 'trajectory'])
        .execute()
      await schema.createIndex('subjects_of_trajectory').on('further_subjects').column('trajectory').execute()
    },
  },
  { name: '0004-canaries', up: learnFromTraffic },
  { name: '0005-watched-canaries', up: watchCanaries },
  { name: '0006-erasures', up: rememberErasures },
  // Nothing changes here: earlier versions cannot read log-probabilities that are packed.
  { name: '0007-packed-logprobs', up: async () => {} },
  { name: '0008-expired-keys', up: expireSessionKeys },
  { name: '0009-request-claims', up: claimRequests },
  { name: '0010-candidate-levels', up: levelCandidates },
  { name: '0011-audits', up: auditCanaries },
  // Nothing changes here: earlier versions take a patch for a whole set, and know neither declared activations nor changes
  // beside a canary.
  { name: '0012-patches', up: async () => {} },
]
