import { type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TrajectoryFilter } from '../core/index.ts'
import type { Access } from './access.ts'
import type { Tables } from './tables.ts'

/** Signals of one look, and keys of one statement. */
const signalsAtOnce = 5_000
const keysAtOnce = 256

/** Trajectories whose signals were counted with them. */
export interface Counted {
  /** Those that are there, and those of which there are half answers only. */
  readonly recorded: ReadonlySet<string>
  readonly pending: ReadonlySet<string>
}

/**
 * Removes signals that a filter means and no trajectory of it leads to: of a subject, what that person reported, of
 * whatever trajectory; of a time, those that came before it about a trajectory that never came or is gone.
 * @param counted only counts, what was not counted; `null` removes.
 * @returns how many.
 */
export async function removeStraySignals(
  access: Access,
  filter: TrajectoryFilter,
  counted: Counted | null,
): Promise<number> {
  const stray = strayOf(filter)
  if (!stray) return 0
  let count = 0
  let last = { tenant: '', key: '' }
  for (let more = true; more; ) {
    const rows: readonly Row[] = await access.read((db) => pageOf(db, stray, filter.tenant, last))
    count += counted ? rows.filter((row) => !isCounted(row, counted)).length : await removeAll(access, stray, rows)
    last = rows.at(-1) ?? last
    more = rows.length === signalsAtOnce
    await nextTurn()
  }
  return count
}

function isCounted({ trajectory, known }: Row, { recorded, pending }: Counted): boolean {
  return pending.has(trajectory) || (known !== null && recorded.has(known))
}

type Stray = (eb: ExpressionBuilder<Tables, 'signals'>) => Expression<SqlBool>

/** Which signals a filter means by themselves; `null` for one that goes by what only a trajectory tells. */
function strayOf({ origin, subject, since, before, ...others }: TrajectoryFilter): Stray | null {
  const { run, session, agent, canary, arm } = others
  if ([run, session, agent, canary, arm].some((asked) => asked !== undefined)) return null
  if ((origin ?? 'traffic') !== 'traffic') return null
  if (subject === undefined && before === undefined) return null
  return (eb) =>
    eb.and([
      ...(before === undefined ? [] : [eb('signals.received_at', '<', before)]),
      ...(since === undefined ? [] : [eb('signals.received_at', '>=', since)]),
      subject === undefined ? eb.not(eb.exists(ownTrajectory(eb))) : reportedBy(subject),
    ])
}

/** Whether a key (which has no colon) reported in the name of someone: `<key>:<name>`. */
function reportedBy(name: string): RawBuilder<SqlBool> {
  const { length } = Array.from(name)
  const reporter = sql.ref('signals.reporter')
  const key = sql`substr(${reporter}, 1, length(${reporter}) - ${sql.lit(length + 1)})`
  return sql<SqlBool>`length(${reporter}) > ${sql.lit(length + 1)} and ${reporter} = ${key} || ${`:${name}`} and ${key} not like '%:%'`
}

function ownTrajectory(eb: ExpressionBuilder<Tables, 'signals'>) {
  return eb
    .selectFrom('trajectories')
    .select('trajectories.id')
    .whereRef('trajectories.id', '=', 'signals.trajectory')
    .whereRef('trajectories.tenant', '=', 'signals.tenant')
}

interface Row {
  readonly tenant: string
  readonly key: string
  readonly trajectory: string
  /** The trajectory, where its own tenant speaks of it. */
  readonly known: string | null
}

function pageOf(db: Kysely<Tables>, stray: Stray, tenant: string | undefined, last: Pick<Row, 'tenant' | 'key'>) {
  return db
    .selectFrom('signals')
    .select(['signals.tenant', 'signals.key', 'signals.trajectory'])
    .select((eb) => ownTrajectory(eb).as('known'))
    .where(stray)
    .$if(tenant !== undefined, (query) => query.where('signals.tenant', '=', tenant ?? ''))
    .where((eb) => eb(eb.refTuple('signals.tenant', 'signals.key'), '>', eb.tuple(last.tenant, last.key)))
    .orderBy('signals.tenant')
    .orderBy('signals.key')
    .limit(signalsAtOnce)
    .execute()
}

async function removeAll({ write }: Access, stray: Stray, rows: readonly Row[]): Promise<number> {
  let removed = 0
  for (let start = 0; start < rows.length; start += keysAtOnce) {
    const some = rows.slice(start, start + keysAtOnce)
    removed += await write((db) => remove(db, stray, some))
  }
  return removed
}

/** Looks again: a trajectory may have come meanwhile. */
async function remove(db: Kysely<Tables>, stray: Stray, rows: readonly Row[]): Promise<number> {
  let removed = 0
  for (const tenant of new Set(rows.map((row) => row.tenant))) {
    const { numDeletedRows } = await db
      .deleteFrom('signals')
      .where('tenant', '=', tenant)
      .where(
        'key',
        'in',
        rows.flatMap((row) => (row.tenant === tenant ? [row.key] : [])),
      )
      .where(stray)
      .executeTakeFirstOrThrow()
    removed += Number(numDeletedRows)
  }
  return removed
}
