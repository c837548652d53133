import type { Expression, ExpressionBuilder, Kysely, SqlBool } from 'kysely'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Removal, TrajectoryFilter } from '../core/index.ts'
import type { Access } from './access.ts'
import { auditNobody } from './audits.ts'
import { eraseItems, eraseLateItems } from './derived-items.ts'
import { scrubDerived } from './derived.ts'
import { erasedSubject, erasedTrajectory, forgetOldErasures, rememberErased } from './erasures.ts'
import { countJudged, nameNobody } from './judged-sessions.ts'
import { removeSessionKeys, sessionKeysOf } from './session-keys.ts'
import { removePending } from './pending.ts'
import { removeStraySignals } from './stray-signals.ts'
import type { Tables } from './tables.ts'
import { matching } from './trajectory-filter.ts'

/** Trajectories of one transaction: other writers wait for one of these at most. */
const trajectoriesAtOnce = 100
/** Ids of one look. */
const idsAtOnce = 5_000

/**
 * Removes the trajectories of a filter that no run made: their rows, messages, signals, the turns and requests by which
 * they are known again, half answers, and signals that the filter means by themselves. Other records that name them are
 * scrubbed first; so when the process dies midway, what is left is found and removed by the next removal with the same
 * filter. Between its transactions others write: a trajectory that meanwhile left the filter stays, and one that comes
 * into it may stay. How sessions of a canary were judged stays, as numbers that name nobody: what was decided from them
 * must not change with who is removed.
 *
 * Of a person it is an erasure: items that were learned from their sessions go, wherever a Version or a checkpoint holds them;
 * calls about them, or in their trajectories, that began before `now` are kept out from its
 * beginning on, and the keys of their sessions go.
 *
 * What is gone from the database is not gone from everywhere: the result says what remains in its own files. SQLite
 * overwrites what it removes (`secure_delete`), and its log is emptied at the end. PostgreSQL keeps dead rows until its own
 * vacuum. Backups, replicas and archived logs keep what they have.
 */
export async function removeTrajectories(
  access: Access,
  filter: TrajectoryFilter,
  { dryRun, now = Date.now() }: { readonly dryRun: boolean; readonly now?: number },
): Promise<Removal> {
  const erasedAt = filter.subject === undefined || dryRun ? null : now
  if (erasedAt !== null) await keepOut(access, filter, erasedAt)
  const ids = await idsOf(access, filter)
  const marks = marksOf(ids, filter)
  const items = await eraseItems(access, marks, dryRun)
  const { derived, versions } = await scrubDerived(access, { ids, marks }, dryRun)
  let trajectories = 0
  let signals = 0
  let judged = 0
  // While the names of their sessions can be looked up.
  const keys = await keysOf(access, filter, dryRun)
  const all = [...ids]
  for (let start = 0; start < all.length; start += trajectoriesAtOnce) {
    const some = all.slice(start, start + trajectoriesAtOnce)
    judged += await access.read((db) => countJudged(db, some))
    const gone = dryRun
      ? { trajectories: some.length, signals: await access.read((db) => countSignals(db, some)) }
      : await access.write((db) => remove(db, some, filter, erasedAt))
    trajectories += gone.trajectories
    signals += gone.signals
    await nextTurn()
  }
  const pending = await removePending(access, filter, ids, { dryRun, erasedAt })
  // What a run wrote meanwhile; by now it is told what was erased, and nothing more of it comes in.
  if (!dryRun) await eraseItems(access, marks, false)
  if (!dryRun) await eraseLateItems(access, marks)
  // In a real run these are gone by now.
  const counted = dryRun ? { recorded: ids, pending: pending.trajectories } : null
  const stray = await removeStraySignals(access, filter, counted)
  return {
    trajectories: trajectories + pending.trajectories.size,
    signals: signals + pending.signals + stray,
    derived: derived + judged + items,
    keys,
    versions,
    remains: dryRun ? 'nowhere' : await access.sweep(),
  }
}

/** From when this is committed on, nothing of the person that began before is written. */
async function keepOut({ write, settle }: Access, { tenant, subject }: TrajectoryFilter, at: number): Promise<void> {
  await write(async (db) => {
    await settle(db)
    await forgetOldErasures(db, at)
    if (tenant !== undefined && subject !== undefined) await rememberErased(db, [erasedSubject(tenant, subject)], at)
  })
}

/** By what an item says that it was made from what is erased. What is removed by age alone keeps what was learned of it. */
function marksOf(ids: ReadonlySet<string>, { tenant, subject }: TrajectoryFilter): ReadonlySet<string> {
  if (subject === undefined) return new Set()
  return new Set([...ids, ...(tenant === undefined ? [] : [erasedSubject(tenant, subject)])])
}

async function keysOf({ read, write }: Access, filter: TrajectoryFilter, dryRun: boolean): Promise<number> {
  const ids = await read((db) => sessionKeysOf(db, filter))
  return dryRun || ids.length === 0 ? ids.length : write((db) => removeSessionKeys(db, ids))
}

async function idsOf({ read }: Access, filter: TrajectoryFilter): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (let after: Position | null = null, more = true; more; ) {
    const rows: readonly (Position & { readonly id: string })[] = await read((db) => pageOf(db, filter, after))
    for (const { id } of rows) ids.add(id)
    after = rows.at(-1) ?? after
    more = rows.length === idsAtOnce
    await nextTurn()
  }
  return ids
}

interface Position {
  readonly updated_at: number
  readonly sequence: number
}

/** In the order of change, for which there are indexes. */
function pageOf(db: Kysely<Tables>, filter: TrajectoryFilter, after: Position | null) {
  return db
    .selectFrom('trajectories')
    .select(['id', 'updated_at', 'sequence'])
    .where(matching(filter))
    .where(noEvidence)
    .$if(after !== null, (query) =>
      query.where((eb) =>
        eb(eb.refTuple('updated_at', 'sequence'), '>', eb.tuple(after?.updated_at ?? 0, after?.sequence ?? 0)),
      ),
    )
    .orderBy('updated_at')
    .orderBy('sequence')
    .limit(idsAtOnce)
    .execute()
}

/**
 * Which trajectories no run made: receipts of held-out tasks rest on those. What a canary's receipt rests on it holds itself,
 * so its sessions go when traffic goes.
 */
function noEvidence(eb: ExpressionBuilder<Tables, 'trajectories'>): Expression<SqlBool> {
  // As an expression that no index serves: nearly every trajectory is made by no run, and SQLite does not know that.
  return eb(eb.fn.coalesce('trajectories.run', eb.val('')), '=', '')
}

async function remove(
  db: Kysely<Tables>,
  ids: readonly string[],
  filter: TrajectoryFilter,
  erasedAt: number | null,
): Promise<{ readonly trajectories: number; readonly signals: number }> {
  // Takes hold of the rows, and looks again: a call that is being added is in before this, or opens its trajectory anew.
  const held = await db
    .updateTable('trajectories')
    .set((eb) => ({ stop_reason: eb.ref('stop_reason') }))
    .where('id', 'in', ids)
    .where(matching(filter))
    .where(noEvidence)
    .returning('id')
    .execute()
  const doomed = held.map(({ id }) => id)
  if (doomed.length === 0) return { trajectories: 0, signals: 0 }
  if (erasedAt !== null) await rememberErased(db, doomed.map(erasedTrajectory), erasedAt)
  const { numDeletedRows: signals } = await db
    .deleteFrom('signals')
    .where('trajectory', 'in', doomed)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('trajectories')
          .select('trajectories.id')
          .whereRef('trajectories.id', '=', 'signals.trajectory')
          .whereRef('trajectories.tenant', '=', 'signals.tenant'),
      ),
    )
    .executeTakeFirstOrThrow()
  await nameNobody(db, doomed)
  await auditNobody(db, doomed)
  await db.deleteFrom('pending_calls').where('trajectory', 'in', doomed).execute()
  await db.deleteFrom('request_identities').where('trajectory', 'in', doomed).execute()
  await db.deleteFrom('produced_turns').where('trajectory', 'in', doomed).execute()
  await db.deleteFrom('further_subjects').where('trajectory', 'in', doomed).execute()
  await db.deleteFrom('trajectory_parts').where('trajectory', 'in', doomed).execute()
  await db.deleteFrom('trajectory_payloads').where('trajectory', 'in', doomed).execute()
  await db.deleteFrom('trajectories').where('id', 'in', doomed).execute()
  return { trajectories: doomed.length, signals: Number(signals) }
}

async function countSignals(db: Kysely<Tables>, ids: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom('trajectories')
    .innerJoin('signals', (join) =>
      join.onRef('signals.trajectory', '=', 'trajectories.id').onRef('signals.tenant', '=', 'trajectories.tenant'),
    )
    .where('trajectories.id', 'in', ids)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
