import type { Kysely } from 'kysely'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Access } from './access.ts'
import { erasedTrajectory } from './erasures.ts'
import { ErasedSourceError } from './errors/index.ts'
import { fromJson } from './record.ts'
import { raiseRevision, whatServes } from './serving-revision.ts'
import type { Tables } from './tables.ts'

/**
 * What is learned item by item says of each item what it was made from: an entry of a list that has `derivedFrom`, with ids of
 * trajectories and what stands for persons (`subjectMark`). That is all that the store knows of such values.
 */
const Item = z.object({ derivedFrom: z.array(z.string()) })
/** A value without this text holds none. */
const sign = '"derivedFrom"'
const rowsAtOnce = 50

/**
 * Removes items that were made from what is erased from the values of Versions. A Version keeps its id, by which receipts and
 * releases name it, and is read anew wherever it serves.
 * @param marks ids of trajectories, and what stands for persons.
 * @param dryRun only counts.
 * @returns how many items.
 */
export async function eraseItems(access: Access, marks: ReadonlySet<string>, dryRun: boolean): Promise<number> {
  if (marks.size === 0) return 0
  let erased = 0
  for await (const { id, value } of versionsWithItems(access)) {
    const left = without(fromJson(value, `version ${id}`), marks)
    erased += left.erased
    if (left.erased === 0 || dryRun) continue
    await access.write(async (db) => {
      await raiseRevision(db)
      // Read anew behind that lock: an erasure of somebody else may have written meanwhile, and must not be undone.
      const row = await db.selectFrom('versions').select('value').where('id', '=', id).executeTakeFirst()
      if (!row) return
      const now = without(fromJson(row.value, `version ${id}`), marks)
      await db
        .updateTable('versions')
        .set({ value: JSON.stringify(now.value) })
        .where('id', '=', id)
        .execute()
    }, whatServes)
  }
  return erased
}

/** The same in what runs would resume from: what was written while names were taken out of it. */
export async function eraseLateItems(access: Access, marks: ReadonlySet<string>): Promise<void> {
  if (marks.size === 0) return
  for await (const { run, sequence, state } of checkpointsWithItems(access)) {
    const left = without(fromJson(state, `checkpoint ${sequence} of run ${run}`), marks)
    if (left.erased === 0) continue
    await access.write(async (db) => {
      await raiseRevision(db)
      // As above: behind the lock, so that no other erasure is undone.
      const row = await db
        .selectFrom('checkpoints')
        .select('state')
        .where('run', '=', run)
        .where('sequence', '=', sequence)
        .executeTakeFirst()
      if (!row) return
      const now = without(fromJson(row.state, `checkpoint ${sequence} of run ${run}`), marks)
      await db
        .updateTable('checkpoints')
        .set({ state: JSON.stringify(now.value) })
        .where('run', '=', run)
        .where('sequence', '=', sequence)
        .execute()
    }, whatServes)
  }
}

/**
 * Keeps out what was made from what has been erased: a run that was under way still holds it.
 * @param json what is to be written.
 * @throws ErasedSourceError for an item that names an erased trajectory.
 */
export async function refuseErased(db: Kysely<Tables>, json: string, what: string): Promise<void> {
  if (!json.includes(sign)) return
  const rows = await db.selectFrom('erasures').select('what').execute()
  if (rows.length === 0) return
  const erased = new Set(rows.map((row) => row.what))
  const isErased = (mark: string) => erased.has(erasedTrajectory(mark))
  if (walk(fromJson(json, what), (marks) => marks.some(isErased)).erased > 0) throw new ErasedSourceError(what)
}

/** A value without the items that were made from what is erased. */
export const without = (value: unknown, marks: ReadonlySet<string>) =>
  walk(value, (derivedFrom) => derivedFrom.some((mark) => marks.has(mark)))

/** The value without the entries of its lists that are meant. */
function walk(
  value: unknown,
  isMeant: (derivedFrom: readonly string[]) => boolean,
): { readonly value: unknown; readonly erased: number } {
  let erased = 0
  const kept = (entry: unknown) => {
    const item = Item.safeParse(entry)
    if (!item.success || !isMeant(item.data.derivedFrom)) return true
    erased++
    return false
  }
  const left = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.filter(kept).map(left)
    if (typeof inner !== 'object' || inner === null) return inner
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, left(one)]))
  }
  const result = left(value)
  return { value: result, erased }
}

/** One value at a time: a memory may have a hundred megabytes. */
async function* versionsWithItems({ read }: Access) {
  for (let last = '', more = true; more; ) {
    const ids = await read((db) =>
      db
        .selectFrom('versions')
        .select('id')
        .where('id', '>', last)
        .where('value', 'like', `%${sign}%`)
        .orderBy('id')
        .limit(rowsAtOnce)
        .execute(),
    )
    for (const { id } of ids) {
      const row = await read((db) => db.selectFrom('versions').select('value').where('id', '=', id).executeTakeFirst())
      if (row) yield { id, value: row.value }
      await nextTurn()
    }
    last = ids.at(-1)?.id ?? last
    more = ids.length === rowsAtOnce
  }
}

async function* checkpointsWithItems({ read }: Access) {
  for (let run = '', sequence = -1, more = true; more; ) {
    const keys = await read((db) =>
      db
        .selectFrom('checkpoints')
        .select(['run', 'sequence'])
        .where((eb) => eb.or([eb('run', '>', run), eb.and([eb('run', '=', run), eb('sequence', '>', sequence)])]))
        .where('state', 'like', `%${sign}%`)
        .orderBy('run')
        .orderBy('sequence')
        .limit(rowsAtOnce)
        .execute(),
    )
    for (const key of keys) {
      const row = await read((db) =>
        db
          .selectFrom('checkpoints')
          .select('state')
          .where('run', '=', key.run)
          .where('sequence', '=', key.sequence)
          .executeTakeFirst(),
      )
      if (row) yield { ...key, state: row.state }
      await nextTurn()
    }
    run = keys.at(-1)?.run ?? run
    sequence = keys.at(-1)?.sequence ?? sequence
    more = keys.length === rowsAtOnce
  }
}
