import type { Insertable, Kysely } from 'kysely'
import { type RecordedTrajectory, Reward, RunId, Trajectory, type TrajectoryRepository } from '../core/index.ts'
import { InvariantError } from '../errors/index.ts'
import type { Access } from './access.ts'
import { assertSame, fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'

/** Rows of one insert: few enough for any database's limit on parameters, enough to make the statement's cost vanish. */
const rowsPerInsert = 64

/** Trajectories with what they earned, written once. */
export function trajectoryRepository({ read, write }: Access): TrajectoryRepository {
  return {
    append: async (records) => {
      // Serialized before the transaction begins: what cannot be stored fails alone, and the disk does not wait for it.
      const rows = records.map((record) => ({ record, row: toRow(record), payload: toPayload(record.trajectory) }))
      await write(async (db) => {
        for (let start = 0; start < rows.length; start += rowsPerInsert) {
          const chunk = rows.slice(start, start + rowsPerInsert)
          const { numInsertedOrUpdatedRows: inserted } = await db
            .insertInto('trajectories')
            .values(chunk.map(({ row }) => row))
            .onConflict((c) => c.doNothing())
            .executeTakeFirstOrThrow()
          await db
            .insertInto('trajectory_payloads')
            .values(chunk.map(({ payload }) => payload))
            .onConflict((c) => c.doNothing())
            .execute()
          if (inserted === BigInt(chunk.length)) continue
          for (const { record } of chunk) {
            const { id } = record.trajectory
            assertSame(await find(db, id), record, `trajectory ${id}`)
          }
        }
      })
    },

    get: (id) => read((db) => find(db, id)),

    list: ({ run, limit }) =>
      read(async (db) => {
        const rows = await records(db)
          .$if(run !== undefined, (query) => query.where('trajectories.run', '=', run ?? null))
          .orderBy('trajectories.sequence')
          .limit(limit)
          .execute()
        return rows.map(fromRow)
      }),

    summaries: () => Promise.reject(new InvariantError('not built yet')),
    remove: () => Promise.reject(new InvariantError('not built yet')),

    count: ({ run }) =>
      read(async (db) => {
        const { count } = await db
          .selectFrom('trajectories')
          .$if(run !== undefined, (query) => query.where('run', '=', run ?? null))
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        return count
      }),
  }
}

function records(db: Kysely<Tables>) {
  return db
    .selectFrom('trajectories')
    .innerJoin('trajectory_payloads', 'trajectory_payloads.trajectory', 'trajectories.id')
    .select(['trajectories.id', 'trajectories.run', 'trajectories.reward', 'trajectory_payloads.payload'])
}

async function find(db: Kysely<Tables>, id: string): Promise<RecordedTrajectory | null> {
  const row = await records(db).where('trajectories.id', '=', id).executeTakeFirst()
  return row ? fromRow(row) : null
}

function toRow({ trajectory, reward, run }: RecordedTrajectory): Insertable<Tables['trajectories']> {
  return {
    id: trajectory.id,
    run,
    task: trajectory.task.id,
    task_group: trajectory.group,
    split: trajectory.task.split,
    tier: trajectory.task.tier ?? null,
    stop_reason: trajectory.stopReason,
    reward_status: reward.status,
    reward_value: reward.value,
    reward: toJson(reward, `reward of trajectory ${trajectory.id}`),
    started_at: trajectory.startedAt,
    seconds: trajectory.seconds,
  }
}

function toPayload(trajectory: Trajectory): Tables['trajectory_payloads'] {
  return { trajectory: trajectory.id, payload: toJson(trajectory, `trajectory ${trajectory.id}`) }
}

function fromRow(row: { id: string; run: string | null; reward: string; payload: string }): RecordedTrajectory {
  const what = `trajectory ${row.id}`
  return {
    trajectory: parseRecord(Trajectory, fromJson(row.payload, what), what),
    reward: parseRecord(Reward, fromJson(row.reward, what), `reward of ${what}`),
    run: parseRecord(RunId.nullable(), row.run, `run of ${what}`),
  }
}
