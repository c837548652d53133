import type { ExpressionBuilder, Kysely } from 'kysely'
import { z } from 'zod'
import { StopReason, Tenant, TrajectoryId, type TrajectoryRepository, type TrajectorySummary } from '../core/index.ts'
import { parseRecord } from './record.ts'
import type { Tables } from './tables.ts'
import { matching } from './trajectory-filter.ts'

/** Trajectories whose calls and signals are counted by one query. */
const trajectoriesAtOnce = 500

const Summary = z.strictObject({
  id: TrajectoryId,
  origin: z.enum(['rollout', 'traffic', 'import']),
  tenant: Tenant,
  session: z.string().nullable(),
  agent: z.string().nullable(),
  subject: z.string().nullable(),
  train: z.boolean(),
  instruction: z.string(),
  stopReason: StopReason,
  startedAt: z.number(),
  updatedAt: z.number(),
  calls: z.number().nullable(),
  signals: z.number(),
})

type Which = Parameters<TrajectoryRepository['summaries']>[0]

/** Trajectories as lists show them: from columns and counts, never from messages. */
export async function summaries(
  db: Kysely<Tables>,
  { began, ...filter }: Omit<Which, 'limit'>,
  limit: number,
): Promise<readonly TrajectorySummary[]> {
  const matches = db
    .selectFrom('trajectories')
    .select(['id', 'origin', 'tenant', 'session', 'agent', 'subject', 'train', 'instruction'])
    .select(['stop_reason as stopReason', 'started_at as startedAt', 'updated_at as updatedAt'])
    .where(matching(filter))
    .limit(limit)
  const ordered = began
    ? matches.where(beganIn(began)).orderBy('started_at', order(began)).orderBy('id', order(began))
    : matches.orderBy('updated_at', 'desc').orderBy('sequence', 'desc')
  const rows = await ordered.execute()
  const calls = new Map<string, number>()
  const signals = new Map<string, number>()
  for (let start = 0; start < rows.length; start += trajectoriesAtOnce) {
    const ids = rows.slice(start, start + trajectoriesAtOnce).map(({ id }) => id)
    for (const { id, count } of await callsOf(db, ids)) calls.set(id, count)
    for (const { id, count } of await signalsOf(db, ids)) signals.set(id, count)
  }
  return rows.map((row) => {
    const counts = { calls: calls.get(row.id) ?? null, signals: signals.get(row.id) ?? 0 }
    return parseRecord(Summary, { ...row, train: row.train === 1, ...counts }, `summary of trajectory ${row.id}`)
  })
}

const order = ({ latestFirst = false }: NonNullable<Which['began']>) => (latestFirst ? 'desc' : 'asc')

function beganIn({ after, until }: NonNullable<Which['began']>) {
  return (eb: ExpressionBuilder<Tables, 'trajectories'>) =>
    eb.and([
      eb('trajectories.started_at', '<=', until),
      eb.or([
        eb('trajectories.started_at', '>', after.startedAt),
        eb('trajectories.started_at', '=', after.startedAt).and('trajectories.id', '>', after.id),
      ]),
      // Nothing changed before it began: the indexes are by change, and what is long past is not looked through.
      eb('trajectories.updated_at', '>=', after.startedAt),
    ])
}

function callsOf(db: Kysely<Tables>, ids: readonly string[]) {
  return db
    .selectFrom('trajectory_parts')
    .where('trajectory', 'in', ids)
    .groupBy('trajectory')
    .select((eb) => ['trajectory as id', eb.fn.countAll<number>().as('count')])
    .execute()
}

/** Only what the trajectory's own tenant said. */
function signalsOf(db: Kysely<Tables>, ids: readonly string[]) {
  return db
    .selectFrom('trajectories')
    .innerJoin('signals', (join) =>
      join.onRef('signals.trajectory', '=', 'trajectories.id').onRef('signals.tenant', '=', 'trajectories.tenant'),
    )
    .where('trajectories.id', 'in', ids)
    .groupBy('trajectories.id')
    .select((eb) => ['trajectories.id', eb.fn.countAll<number>().as('count')])
    .execute()
}
