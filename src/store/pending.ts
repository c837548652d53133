import type { Insertable, Kysely } from 'kysely'
import { z } from 'zod'
import { type PendingCall, TrafficHead, TrafficOrigin, type TrajectoryFilter, TrajectoryPart } from '../core/index.ts'
import type { Access } from './access.ts'
import { type ErasableCall, erasedTrajectory, isErased, rememberErased } from './erasures.ts'
import { packed, unpacked } from './packed-spans.ts'
import { fromJson, parseRecord, toJson } from './record.ts'
import { addCall, erasableCall, toCallRows } from './recorded-call.ts'
import type { Tables } from './tables.ts'
import { wouldMatch } from './trajectory-filter.ts'

const Pending = z.strictObject({ head: TrafficHead, part: TrajectoryPart })
const Whose = z.object({ head: z.object({ origin: TrafficOrigin }) })

/** A half answer as a row, serialized before the transaction that writes it begins. */
export interface PendingRow {
  readonly row: Insertable<Tables['pending_calls']>
  readonly erasable: ErasableCall
}

/** @throws UnstorableValueError */
export function toPendingRow({ call, gateway, head, part, updatedAt }: PendingCall): PendingRow {
  const payload = toJson({ head, part: packed(part) }, `half answer of call ${call}`)
  return {
    row: { call, gateway, trajectory: head.id, payload, updated_at: updatedAt },
    erasable: erasableCall(head),
  }
}

/** @throws CorruptRecordError */
function fromPendingRow({ call, payload }: { call: string; payload: string }): z.infer<typeof Pending> {
  const what = `half answer of call ${call}`
  const read = fromJson(payload, what)
  if (typeof read === 'object' && read !== null && 'part' in read) unpacked(read.part)
  return parseRecord(Pending, read, what)
}

/**
 * Keeps what a stream has said; what it had said of a call that is committed is late, and changes nothing. Nor does what
 * is about somebody who was erased since it began.
 */
export async function writePending(db: Kysely<Tables>, { row, erasable }: PendingRow): Promise<void> {
  const { call, gateway, trajectory, payload, updated_at } = row
  if ((await isCommitted(db, call)) || (await isErased(db, erasable))) return
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
  const rows = toCallRows({ ...fromPendingRow(row), turns: [], identity: null })
  const added = !(await isErased(db, rows.erasable)) && (await addCall(db, rows))
  // In the order in which a call is committed, so that two who are at the same one never wait for each other.
  await db.deleteFrom('pending_calls').where('call', '=', call).where('updated_at', '<', before).execute()
  return added
}

/**
 * Removes half answers of calls that would make a trajectory of the filter. One that cannot be read is nobody's answer any
 * more, and may be about anybody: of the filter's time, it goes.
 * @param ids trajectories that go with all that is theirs, half answers too.
 * @param erasedAt of an erasure, its time: then calls that are under way in the other trajectories are kept out.
 * @returns the other trajectories of which nothing is known but these, with the signals about them.
 */
export async function removePending(
  { read, write }: Access,
  filter: TrajectoryFilter,
  ids: ReadonlySet<string>,
  { dryRun, erasedAt }: { readonly dryRun: boolean; readonly erasedAt: number | null },
): Promise<{ readonly trajectories: ReadonlySet<string>; readonly signals: number }> {
  const rows = await read((db) => db.selectFrom('pending_calls').selectAll().execute())
  const trajectories = new Set<string>()
  let signals = 0
  for (const { call, trajectory, payload, updated_at } of rows) {
    const origin = originIn(payload)
    if (ids.has(trajectory) || !wouldMatch(filter, origin, updated_at)) continue
    const opened = await read((db) =>
      db.selectFrom('trajectories').select('id').where('id', '=', trajectory).executeTakeFirst(),
    )
    const about =
      opened || trajectories.has(trajectory) ? null : { trajectory, tenant: origin?.tenant ?? filter.tenant }
    if (about) trajectories.add(trajectory)
    if (about && dryRun) signals += await read((db) => countAbout(db, about))
    if (dryRun) continue
    signals += await write(async (db) => {
      if (erasedAt !== null) await rememberErased(db, [erasedTrajectory(trajectory)], erasedAt)
      await db.deleteFrom('pending_calls').where('call', '=', call).execute()
      return about ? removeAbout(db, about) : 0
    })
  }
  return { trajectories, signals }
}

/** Whose a half answer is, whatever else it holds; `null` where that cannot be read. */
function originIn(payload: string): TrafficOrigin | null {
  try {
    return Whose.parse(JSON.parse(payload)).head.origin
  } catch {
    return null
  }
}

interface About {
  readonly trajectory: string
  readonly tenant: string | undefined
}

async function countAbout(db: Kysely<Tables>, { trajectory, tenant = '' }: About): Promise<number> {
  const { count } = await db
    .selectFrom('signals')
    .where('trajectory', '=', trajectory)
    .where('tenant', '=', tenant)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function removeAbout(db: Kysely<Tables>, { trajectory, tenant = '' }: About): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('signals')
    .where('trajectory', '=', trajectory)
    .where('tenant', '=', tenant)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

async function isCommitted(db: Kysely<Tables>, call: string): Promise<boolean> {
  const row = await db.selectFrom('trajectory_parts').select('call').where('call', '=', call).executeTakeFirst()
  return row !== undefined
}
