import { type Kysely, sql } from 'kysely'
import type { RecordedTrajectory, Tenant, Trajectory, TrajectoryRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { UnknownRecordError } from './errors/index.ts'
import { packed } from './packed-spans.ts'
import { assertSame, toJson } from './record.ts'
import { removeTrajectories } from './removal.ts'
import { summaries } from './summaries.ts'
import type { Tables } from './tables.ts'
import { matching } from './trajectory-filter.ts'
import { recordedRows, toRecorded, toRow } from './trajectory-rows.ts'

/** Rows of one insert: few enough for any database's limit on parameters, enough to make the statement's cost vanish. */
const rowsPerInsert = 64

/** Trajectories with what they earned: written whole and once, or grown by the gateway's calls (`traffic.ts`). */
export function trajectoryRepository(access: Access): TrajectoryRepository {
  const { read, write } = access
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

    get: (id, asOf) => read((db) => find(db, id, asOf)),

    size: (id) => read((db) => sizeOf(db, id)),

    list: ({ limit, after, ...filter }) =>
      read(async (db) => {
        const from = after === undefined ? null : await sequenceOf(db, after)
        // Which ones, by indexes; then what they are: not a row more is read.
        const page = db
          .selectFrom('trajectories')
          .select('trajectories.sequence')
          .where(matching(filter))
          .$if(from !== null, (query) => query.where('trajectories.sequence', '>', from ?? 0))
          .orderBy('trajectories.sequence')
          .limit(limit)
        const rows = await recordedRows(db)
          .where('trajectories.sequence', 'in', page)
          .orderBy('trajectories.sequence')
          .execute()
        return toRecorded(db, rows)
      }),

    summaries: ({ limit, ...filter }) => read((db) => summaries(db, filter, limit)),

    count: (filter) =>
      read(async (db) => {
        const { count } = await db
          .selectFrom('trajectories')
          .where(matching(filter))
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        return count
      }),

    remove: (filter, options) => removeTrajectories(access, filter, options),
  }
}

async function find(db: Kysely<Tables>, id: string, asOf?: number): Promise<RecordedTrajectory | null> {
  const rows = await recordedRows(db).where('trajectories.id', '=', id).execute()
  return (await toRecorded(db, rows, asOf))[0] ?? null
}

/** Lengths are kept beside the texts: none of those is read. */
async function sizeOf(db: Kysely<Tables>, id: string): Promise<{ tenant: Tenant; bytes: number } | null> {
  const row = await db.selectFrom('trajectories').select('tenant').where('id', '=', id).executeTakeFirst()
  if (!row) return null
  let size = 0
  for (const table of ['trajectory_payloads', 'trajectory_parts'] as const) {
    const { bytes } = await db
      .selectFrom(table)
      .where('trajectory', '=', id)
      .select(sql<number | null>`sum(octet_length(payload))`.as('bytes'))
      .executeTakeFirstOrThrow()
    size += bytes ?? 0
  }
  return { tenant: row.tenant, bytes: size }
}

/** @throws UnknownRecordError when it is not there, or not any more: the next page would begin anywhere. */
async function sequenceOf(db: Kysely<Tables>, id: string): Promise<number> {
  const row = await db.selectFrom('trajectories').select('sequence').where('id', '=', id).executeTakeFirst()
  if (!row) throw new UnknownRecordError(`trajectory ${id}`)
  return row.sequence
}

function toPayload(trajectory: Trajectory): Tables['trajectory_payloads'] {
  return { trajectory: trajectory.id, payload: toJson(packed(trajectory), `trajectory ${trajectory.id}`) }
}
