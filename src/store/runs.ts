import type { Insertable, Kysely, Selectable, Updateable } from 'kysely'
import { Checkpoint, Run, RunEvent, type RunRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { refuseErased } from './derived-items.ts'
import { UnknownRecordError } from './errors/index.ts'
import { assertSame, fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'

/** Rows of one insert. */
const rowsPerInsert = 256

/** Runs, with their events and checkpoints. */
export function runRepository({ read, write }: Access): RunRepository {
  return {
    create: (run) =>
      write(async (db) => {
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('runs')
          .values(toRow(run))
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted !== 1n) assertSame(await findRun(db, run.id), run, `run ${run.id}`)
      }),

    update: (id, change) =>
      write(async (db) => {
        const row = toChange(change, `run ${id}`)
        const known =
          Object.keys(row).length === 0
            ? (await findRun(db, id)) !== null
            : (await db.updateTable('runs').set(row).where('id', '=', id).executeTakeFirst()).numUpdatedRows === 1n
        if (!known) throw new UnknownRecordError(`run ${id}`)
      }),

    get: (id) => read((db) => findRun(db, id)),

    list: ({ agent, before, endedSince, limit }) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('runs')
          .selectAll()
          .$if(agent !== undefined, (query) => query.where('agent', '=', agent ?? ''))
          .$if(before !== undefined, (query) =>
            query.where('sequence', '<', (eb) =>
              eb
                .selectFrom('runs')
                .select('sequence')
                .where('id', '=', before ?? ''),
            ),
          )
          .$if(endedSince !== undefined, (query) =>
            query.where((eb) => eb.or([eb('ended_at', 'is', null), eb('ended_at', '>=', endedSince ?? 0)])),
          )
          .orderBy('sequence', 'desc')
          .limit(limit)
          .execute()
        return rows.map(fromRow)
      }),

    appendEvents: (events) =>
      write(async (db) => {
        for (let start = 0; start < events.length; start += rowsPerInsert) {
          const chunk = events.slice(start, start + rowsPerInsert)
          const { numInsertedOrUpdatedRows: inserted } = await db
            .insertInto('run_events')
            .values(chunk.map((event) => ({ ...event, data: toJson(event.data, nameOf(event)) })))
            .onConflict((c) => c.doNothing())
            .executeTakeFirstOrThrow()
          if (inserted === BigInt(chunk.length)) continue
          for (const event of chunk) {
            const stored = await db
              .selectFrom('run_events')
              .selectAll()
              .where('run', '=', event.run)
              .where('sequence', '=', event.sequence)
              .executeTakeFirstOrThrow()
            assertSame(toEvent(stored), event, nameOf(event))
          }
        }
      }),

    events: (run) =>
      read(async (db) => {
        const rows = await db.selectFrom('run_events').selectAll().where('run', '=', run).orderBy('sequence').execute()
        return rows.map(toEvent)
      }),

    saveCheckpoint: (checkpoint) =>
      write(async (db) => {
        const what = `checkpoint ${checkpoint.sequence} of run ${checkpoint.run}`
        const state = toJson(checkpoint.state, what)
        await refuseErased(db, state, what)
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('checkpoints')
          .values({ ...checkpoint, state, blobs: toJson(checkpoint.blobs, what) })
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted === 1n) return
        const stored = await db
          .selectFrom('checkpoints')
          .selectAll()
          .where('run', '=', checkpoint.run)
          .where('sequence', '=', checkpoint.sequence)
          .executeTakeFirstOrThrow()
        assertSame(toCheckpoint(stored), checkpoint, what)
      }),

    latestCheckpoint: (run) =>
      read(async (db) => {
        const row = await db
          .selectFrom('checkpoints')
          .selectAll()
          .where('run', '=', run)
          .orderBy('sequence', 'desc')
          .limit(1)
          .executeTakeFirst()
        return row ? toCheckpoint(row) : null
      }),
  }
}

async function findRun(db: Kysely<Tables>, id: string): Promise<Run | null> {
  const row = await db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? fromRow(row) : null
}

function toRow(run: Run): Insertable<Tables['runs']> {
  const what = `run ${run.id}`
  return {
    id: run.id,
    agent: run.agent,
    config: toJson(run.config, what),
    seed: run.seed,
    status: run.status,
    versions_in: toJson(run.versionsIn, what),
    versions_out: run.versionsOut && toJson(run.versionsOut, what),
    receipt: run.receipt,
    release: run.release,
    failure: run.failure && toJson(run.failure, what),
    started_at: run.startedAt,
    ended_at: run.endedAt,
  }
}

/** The columns of what changes, and of nothing else. */
function toChange(change: Parameters<RunRepository['update']>[1], what: string): Updateable<Tables['runs']> {
  const { status, versionsIn, versionsOut, receipt, release, failure, endedAt } = change
  return {
    ...(status !== undefined && { status }),
    ...(versionsIn !== undefined && { versions_in: toJson(versionsIn, what) }),
    ...(versionsOut !== undefined && { versions_out: versionsOut && toJson(versionsOut, what) }),
    ...(receipt !== undefined && { receipt }),
    ...(release !== undefined && { release }),
    ...(failure !== undefined && { failure: failure && toJson(failure, what) }),
    ...(endedAt !== undefined && { ended_at: endedAt }),
  }
}

function fromRow(row: Selectable<Tables['runs']>): Run {
  const what = `run ${row.id}`
  const { id, agent, seed, status, receipt, release } = row
  return parseRecord(
    Run,
    {
      id,
      agent,
      config: fromJson(row.config, what),
      seed,
      status,
      versionsIn: fromJson(row.versions_in, what),
      versionsOut: row.versions_out && fromJson(row.versions_out, what),
      receipt,
      release,
      failure: row.failure && fromJson(row.failure, what),
      startedAt: row.started_at,
      endedAt: row.ended_at,
    },
    what,
  )
}

function nameOf(event: { readonly run: string; readonly sequence: number }): string {
  return `event ${event.sequence} of run ${event.run}`
}

function toEvent(row: Selectable<Tables['run_events']>): RunEvent {
  return parseRecord(RunEvent, { ...row, data: fromJson(row.data, nameOf(row)) }, nameOf(row))
}

function toCheckpoint(row: Selectable<Tables['checkpoints']>): Checkpoint {
  const what = `checkpoint ${row.sequence} of run ${row.run}`
  return parseRecord(Checkpoint, { ...row, state: fromJson(row.state, what), blobs: fromJson(row.blobs, what) }, what)
}
