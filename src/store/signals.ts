import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import { type Json, Signal, type SignalOutcome, type SignalRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { fromJson, parseRecord, toJson } from './record.ts'
import { locksOf, SignalRoom } from './signal-caps.ts'
import type { Tables } from './tables.ts'

/** Rows of one insert, and keys of one query. */
const rowsAtOnce = 256

/** What a Signal is made of. */
const columns = [
  'signals.tenant',
  'signals.key',
  'signals.trajectory',
  'signals.node',
  'signals.source',
  'signals.reporter',
  'signals.name',
  'signals.value',
  'signals.at',
] as const

type SignalRow = Insertable<Tables['signals']>

/**
 * Signals, each key of a tenant once. They may arrive before their trajectory: nothing but the key holds them to anything.
 * One about another tenant's trajectory is kept, and never seen.
 */
export function signalRepository({ read, write }: Access): SignalRepository {
  return {
    append: async (signals, limits) => {
      const now = limits?.now ?? Date.now()
      const rows = signals.map((signal) => toRow(signal, now))
      const locks = limits ? locksOf(rows) : []
      return write(
        async (db) => {
          const room = limits ? await SignalRoom.behind(locks, db, limits) : null
          const outcomes: SignalOutcome[] = []
          for (let start = 0; start < rows.length; start += rowsAtOnce) {
            outcomes.push(...(await record(db, rows.slice(start, start + rowsAtOnce), room)))
          }
          return outcomes
        },
        `signals ${String(locks[0] ?? '').padStart(3, '0')}`,
      )
    },

    of: (trajectory, tenant, receivedBy) =>
      read(async (db) => {
        const rows = await ofTrajectory(db, trajectory)
          .select(columns)
          .$if(tenant !== undefined, (query) => query.where('signals.tenant', '=', tenant ?? ''))
          .$if(receivedBy !== undefined, (query) => query.where('signals.received_at', '<=', receivedBy ?? 0))
          .orderBy('signals.at')
          .orderBy('signals.key')
          .execute()
        return rows.map(fromRow)
      }),

    page: (trajectory, from) => read((db) => pageOf(db, trajectory, from)),

    last: (topic, bytes) =>
      read(async (db) => {
        const row = await db
          .selectFrom('signals')
          .select(['key', 'at'])
          .select((eb) =>
            eb
              .case()
              .when(sql<number>`octet_length(value)`, '=', bytes)
              .then(eb.ref('value'))
              .else(null)
              .end()
              .as('value'),
          )
          .where('trajectory', '=', topic.trajectory)
          .where('tenant', '=', topic.tenant)
          .where('reporter', '=', topic.reporter)
          .where('source', '=', topic.source)
          .where('name', '=', topic.name)
          .where('node', topic.node === null ? 'is' : '=', topic.node)
          .orderBy('at', 'desc')
          .orderBy('key', 'desc')
          .limit(1)
          .executeTakeFirst()
        if (!row) return null
        const { key, at, value } = row
        return { key, at, ...(value !== null && { value: fromJson(value, `signal ${key}`) as Json }) }
      }),
  }
}

/** Signals of a page, at most. */
const mostOfPage = 1_000

async function pageOf(
  db: Kysely<Tables>,
  trajectory: string,
  { after, limit, bytes }: Parameters<SignalRepository['page']>[1],
): Promise<Awaited<ReturnType<SignalRepository['page']>>> {
  // Which ones, by their lengths; then what they say: not a value more is read.
  const known = await ofTrajectory(db, trajectory)
    .select(['signals.key', 'signals.at', sql<number>`octet_length(signals.value)`.as('bytes')])
    .$if(after !== undefined, (query) =>
      query.where((eb) =>
        eb(eb.refTuple('signals.at', 'signals.key'), '>', eb.tuple(after?.at ?? 0, after?.key ?? '')),
      ),
    )
    .orderBy('signals.at')
    .orderBy('signals.key')
    .limit(Math.min(limit, mostOfPage) + 1)
    .execute()
  let left = bytes
  const fit = known.slice(0, Math.min(limit, mostOfPage)).filter((signal, i) => (left -= signal.bytes) >= 0 || i === 0)
  if (fit.length === 0) return { signals: [], more: false }
  const rows = await ofTrajectory(db, trajectory)
    .select(columns)
    .where(
      'signals.key',
      'in',
      fit.map(({ key }) => key),
    )
    .orderBy('signals.at')
    .orderBy('signals.key')
    .execute()
  return { signals: rows.map(fromRow), more: fit.length < known.length }
}

/** What a trajectory's own tenant reported of it. */
function ofTrajectory(db: Kysely<Tables>, trajectory: string) {
  return db
    .selectFrom('signals')
    .innerJoin('trajectories', (join) =>
      join.onRef('trajectories.id', '=', 'signals.trajectory').onRef('trajectories.tenant', '=', 'signals.tenant'),
    )
    .where('signals.trajectory', '=', trajectory)
}

async function record(
  db: Kysely<Tables>,
  rows: readonly SignalRow[],
  room: SignalRoom | null,
): Promise<readonly SignalOutcome[]> {
  const known = await keysKnown(db, rows)
  const outcomes: SignalOutcome[] = []
  const admitted: SignalRow[] = []
  for (const row of rows) {
    const outcome = known.has(nameOf(row)) ? 'repeated' : room && !(await room.take(row)) ? 'capped' : 'recorded'
    outcomes.push(outcome)
    if (outcome !== 'recorded') continue
    known.add(nameOf(row))
    admitted.push(row)
  }
  if (admitted.length === 0) return outcomes
  const inserted = await db
    .insertInto('signals')
    .values(admitted)
    .onConflict((c) => c.columns(['tenant', 'key']).doNothing())
    .returning(['tenant', 'key'])
    .execute()
  // The key decides, not the look before it: where several processes write, another may have been quicker.
  const ours = new Set(inserted.map(nameOf))
  return rows.map((row, i) =>
    outcomes[i] === 'recorded' && !ours.has(nameOf(row)) ? 'repeated' : (outcomes[i] ?? 'repeated'),
  )
}

async function keysKnown(db: Kysely<Tables>, rows: readonly SignalRow[]): Promise<Set<string>> {
  const known = new Set<string>()
  for (const tenant of new Set(rows.map((row) => row.tenant))) {
    const keys = rows.filter((row) => row.tenant === tenant).map(({ key }) => key)
    const found = await db
      .selectFrom('signals')
      .select(['tenant', 'key'])
      .where('tenant', '=', tenant)
      .where('key', 'in', keys)
      .execute()
    for (const row of found) known.add(nameOf(row))
  }
  return known
}

/** A tenant's name has no slash. */
function nameOf({ tenant, key }: { readonly tenant: string; readonly key: string }): string {
  return `${tenant}/${key}`
}

function toRow(signal: Signal, received_at: number): SignalRow {
  return { ...signal, value: toJson(signal.value, `signal ${signal.key}`), received_at }
}

function fromRow(row: Omit<Selectable<Tables['signals']>, 'received_at'>): Signal {
  const what = `signal ${row.key}`
  return parseRecord(Signal, { ...row, value: fromJson(row.value, what) }, what)
}
