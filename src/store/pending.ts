import type { Insertable, Kysely } from 'kysely'
import { z } from 'zod'
import { type PendingCall, TrafficHead, type TrajectoryFilter, TrajectoryPart } from '../core/index.ts'
import type { Access } from './access.ts'
import { fromJson, parseRecord, toJson } from './record.ts'
import { addCall, toCallRows } from './recorded-call.ts'
import type { Tables } from './tables.ts'
import { wouldMatch } from './trajectory-filter.ts'

const Pending = z.strictObject({ head: TrafficHead, part: TrajectoryPart })

/** @throws UnstorableValueError */
export function toPendingRow({
  call,
  gateway,
  head,
  part,
  updatedAt,
}: PendingCall): Insertable<Tables['pending_calls']> {
  return {
    call,
    gateway,
    trajectory: head.id,
    payload: toJson({ head, part }, `half answer of call ${call}`),
    updated_at: updatedAt,
  }
}

/** @throws CorruptRecordError */
function fromPendingRow({ call, payload }: { call: string; payload: string }): z.infer<typeof Pending> {
  const what = `half answer of call ${call}`
  return parseRecord(Pending, fromJson(payload, what), what)
}

/** Keeps what a stream has said; what it had said of a call that is committed is late, and changes nothing. */
export async function writePending(db: Kysely<Tables>, row: Insertable<Tables['pending_calls']>): Promise<void> {
  const { call, gateway, trajectory, payload, updated_at } = row
  if (await isCommitted(db, call)) return
  await db
    .insertInto('pending_calls')
    .values(row)
    .onConflict((c) => c.column('call').doUpdateSet({ gateway, trajectory, payload, updated_at }))
    .execute()
}

/**
 * Makes the half answer of a call a part, unless somebody has been at it since `before`, or did so first.
 * @returns whether it became one.
 */
export async function recoverCall(db: Kysely<Tables>, call: string, before: number): Promise<boolean> {
  const row = await db
    .selectFrom('pending_calls')
    .select(['call', 'payload'])
    .where('call', '=', call)
    .where('updated_at', '<', before)
    .executeTakeFirst()
  if (!row) return false
  const added = await addCall(db, toCallRows({ ...fromPendingRow(row), turns: [], identity: null }))
  // In the order in which a call is committed, so that two who are at the same one never wait for each other.
  await db.deleteFrom('pending_calls').where('call', '=', call).where('updated_at', '<', before).execute()
  return added
}

/**
 * Removes half answers of calls that would make a trajectory of the filter.
 * @param ids trajectories that go with all that is theirs, half answers too.
 * @returns of how many other trajectories nothing is known but these.
 */
export async function removePending(
  { read, write }: Access,
  filter: TrajectoryFilter,
  ids: ReadonlySet<string>,
  dryRun: boolean,
): Promise<number> {
  const rows = await read((db) => db.selectFrom('pending_calls').selectAll().execute())
  const doomed = rows.filter(
    (row) => !ids.has(row.trajectory) && wouldMatch(filter, fromPendingRow(row).head, row.updated_at),
  )
  const trajectories = new Set<string>()
  for (const { call, trajectory } of doomed) {
    const opened = await read((db) =>
      db.selectFrom('trajectories').select('id').where('id', '=', trajectory).executeTakeFirst(),
    )
    if (!opened) trajectories.add(trajectory)
    if (!dryRun) await write((db) => db.deleteFrom('pending_calls').where('call', '=', call).execute())
  }
  return trajectories.size
}

async function isCommitted(db: Kysely<Tables>, call: string): Promise<boolean> {
  const row = await db.selectFrom('trajectory_parts').select('call').where('call', '=', call).executeTakeFirst()
  return row !== undefined
}
