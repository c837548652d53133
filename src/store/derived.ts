import type { Kysely } from 'kysely'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { VersionId } from '../core/index.ts'
import type { Access } from './access.ts'
import { without } from './derived-items.ts'
import { fromJson, parseRecord } from './record.ts'
import type { Tables } from './tables.ts'

/**
 * Where runs, canaries and alerts write what they read and did, as JSON that may name trajectories; rows have a key and a
 * sequence. A new such table is one line here. Receipts are no such place: they are kept as they were signed.
 */
const places = [
  { table: 'run_events', key: 'run', column: 'data' },
  { table: 'checkpoints', key: 'run', column: 'state' },
  { table: 'canary_events', key: 'canary', column: 'evidence' },
  { table: 'alerts', key: 'id', column: 'evidence' },
] as const
type Place = (typeof places)[number]

/** Rows of one look, and runs of one query. */
const rowsAtOnce = 500
/** What stands where a trajectory was named. */
const removed = '[removed]'

/**
 * Takes the names of trajectories that are to be removed out of what was derived from them, and what was learned from them
 * item by item as a whole.
 * @param what.marks by what an item says that it was made from them.
 * @param dryRun only counts.
 * @returns how many records named one, and the versions that the runs of those records made.
 */
export async function scrubDerived(
  access: Access,
  { ids, marks }: { readonly ids: ReadonlySet<string>; readonly marks: ReadonlySet<string> },
  dryRun: boolean,
): Promise<{ readonly derived: number; readonly versions: readonly VersionId[] }> {
  if (ids.size + marks.size === 0) return { derived: 0, versions: [] }
  const runs = new Set<string>()
  let derived = 0
  for (const place of places) {
    for await (const row of rowsOf(access, place)) {
      const what = `${place.table} ${row.sequence} of ${place.key} ${row.key}`
      const content = fromJson(row.content, what)
      const scrubbed = JSON.stringify(withoutNames(without(content, marks).value, ids))
      if (scrubbed === JSON.stringify(content)) continue
      derived++
      if (place.key === 'run') runs.add(row.key)
      if (!dryRun) await access.write((db) => replace(db, place, row, scrubbed))
    }
  }
  return { derived, versions: await access.read((db) => versionsOf(db, [...runs])) }
}

interface Row {
  readonly key: string
  readonly sequence: number
  readonly content: string
}

/** The places have columns of the same types: as one of them, they can be asked alike. */
const asOne = (place: Place) => place as (typeof places)[0]

async function* rowsOf({ read }: Access, place: Place): AsyncGenerator<Row> {
  const { table, key, column } = asOne(place)
  let last = { key: '', sequence: -1 }
  for (let more = true; more; ) {
    const rows: readonly Row[] = await read((db) =>
      db
        .selectFrom(table)
        .select([`${key} as key`, 'sequence', `${column} as content`])
        .where((eb) =>
          eb.or([eb(key, '>', last.key), eb.and([eb(key, '=', last.key), eb('sequence', '>', last.sequence)])]),
        )
        .orderBy(key)
        .orderBy('sequence')
        .limit(rowsAtOnce)
        .execute(),
    )
    yield* rows
    last = rows.at(-1) ?? last
    more = rows.length === rowsAtOnce
    await nextTurn()
  }
}

async function replace(db: Kysely<Tables>, place: Place, row: Row, json: string): Promise<void> {
  const { table, key, column } = asOne(place)
  const change = { [column]: json }
  await db.updateTable(table).set(change).where(key, '=', row.key).where('sequence', '=', row.sequence).execute()
}

/** Names that are a whole text or key, and those within a text that are written as one word. */
function withoutNames(value: unknown, ids: ReadonlySet<string>): unknown {
  if (typeof value === 'string') {
    return ids.has(value) ? removed : value.replaceAll(/[\w-]+/g, (word) => (ids.has(word) ? removed : word))
  }
  if (Array.isArray(value)) return value.map((item) => withoutNames(item, ids))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [withoutNames(key, ids), withoutNames(item, ids)]),
  )
}

async function versionsOf(db: Kysely<Tables>, runs: readonly string[]): Promise<readonly VersionId[]> {
  const versions: VersionId[] = []
  for (let start = 0; start < runs.length; start += rowsAtOnce) {
    const rows = await db
      .selectFrom('versions')
      .select('id')
      .where('run', 'in', runs.slice(start, start + rowsAtOnce))
      .orderBy('id')
      .execute()
    versions.push(...rows.map(({ id }) => parseRecord(VersionId, id, `version ${id}`)))
  }
  return versions
}
