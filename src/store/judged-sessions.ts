import { type ExpressionBuilder, type Kysely, type Selectable, sql } from 'kysely'
import { type CanaryRepository, JudgedSession, TrajectoryId } from '../core/index.ts'
import type { Access } from './access.ts'
import { EndedCanaryError } from './errors/index.ts'
import { fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'
import { ofArm } from './trajectory-filter.ts'

/** Rows of one insert, and ids of one query. */
const rowsAtOnce = 128

/** How sessions of canaries were judged: append-only, and in one order for all who look. */
export function judgedSessions({
  read,
  write,
}: Access): Pick<CanaryRepository, 'appendJudged' | 'judged' | 'unjudged' | 'countUnjudged'> {
  return {
    appendJudged: async (canary, sessions) => {
      const rows = sessions.map((session) => toRow(canary, session))
      const [first] = rows
      if (!first) return true
      return write(async (db) => {
        await holdRunning(db, canary)
        if ((await nextSequence(db, canary)) !== first.sequence) return false
        for (let start = 0; start < rows.length; start += rowsAtOnce) {
          const some = rows.slice(start, start + rowsAtOnce)
          const ids = some.map(({ trajectory }) => trajectory)
          const there = await db.selectFrom('trajectories').select('id').where('id', 'in', ids).execute()
          if (there.length < ids.length) return false
        }
        for (let start = 0; start < rows.length; start += rowsAtOnce) {
          const some = rows.slice(start, start + rowsAtOnce)
          await db.insertInto('judged_sessions').values(some).execute()
        }
        const drawn = sessions.flatMap((session) => drawOf(canary, session))
        for (let start = 0; start < drawn.length; start += rowsAtOnce) {
          await db
            .insertInto('audit_draws')
            .values(drawn.slice(start, start + rowsAtOnce))
            .execute()
        }
        return true
      })
    },

    judged: (canary, { from, limit }) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('judged_sessions')
          .selectAll()
          .where('canary', '=', canary)
          .where('sequence', '>=', from)
          .orderBy('sequence')
          .limit(limit)
          .execute()
        return rows.map(fromRow)
      }),

    unjudged: (canary, { since, until, limit }) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('trajectories')
          .select(['id', 'started_at', 'train'])
          .where(notJudged(canary, since, until))
          .orderBy('started_at')
          .orderBy('id')
          .limit(limit)
          .execute()
        return rows.map(({ id, started_at, train }) => ({
          trajectory: parseRecord(TrajectoryId, id, `trajectory ${id}`),
          began: started_at,
          train: train === 1,
        }))
      }),

    countUnjudged: (canary, { since, until, arm, train }) =>
      read(async (db) => {
        const { count } = await db
          .selectFrom('trajectories')
          .where(notJudged(canary, since, until))
          .$if(arm !== undefined, (query) => query.where((eb) => ofArm(eb, arm ?? 'candidate')))
          .$if(train === true, (query) => query.where('train', '=', 1))
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        return count
      }),
  }
}

/** Sessions of a canary that nobody judged, by when they began. */
function notJudged(canary: string, since: number, until: number) {
  return (eb: ExpressionBuilder<Tables, 'trajectories'>) => {
    const judged = eb
      .selectFrom('judged_sessions')
      .select('judged_sessions.sequence')
      .whereRef('judged_sessions.trajectory', '=', 'trajectories.id')
      .where('judged_sessions.canary', '=', canary)
    return eb.and([
      eb('trajectories.canary', '=', canary),
      eb('trajectories.started_at', '>=', since),
      eb('trajectories.started_at', '<=', until),
      eb.not(eb.exists(judged)),
    ])
  }
}

/**
 * Whoever else judges sessions of this canary, or ends it, waits here until this has ended, and then sees what it wrote.
 * @throws EndedCanaryError
 */
async function holdRunning(db: Kysely<Tables>, canary: string): Promise<void> {
  const { numUpdatedRows: held } = await db
    .updateTable('canaries')
    .set((eb) => ({ status: eb.ref('status') }))
    .where('id', '=', canary)
    .where('status', '=', 'running')
    .executeTakeFirstOrThrow()
  if (held > 0n) return
  const row = await db.selectFrom('canaries').select('status').where('id', '=', canary).executeTakeFirst()
  if (row) throw new EndedCanaryError(canary, row.status)
}

/** Takes the names of trajectories that are removed, and of who reported of them, out of how they were judged. */
export async function nameNobody(db: Kysely<Tables>, trajectories: readonly string[]): Promise<void> {
  await db
    .updateTable('judged_sessions')
    .set({ trajectory: sql<string>`'erased-' || sequence`, reporters: '[]' })
    .where('trajectory', 'in', trajectories)
    .execute()
}

/** Who decided sessions of a canary is of no use once it has ended. */
export async function forgetReporters(db: Kysely<Tables>, canary: string): Promise<void> {
  await db.updateTable('judged_sessions').set({ reporters: '[]' }).where('canary', '=', canary).execute()
}

/** How many judged sessions name one of these trajectories. */
export async function countJudged(db: Kysely<Tables>, trajectories: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom('judged_sessions')
    .where('trajectory', 'in', trajectories)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

async function nextSequence(db: Kysely<Tables>, canary: string): Promise<number> {
  const row = await db
    .selectFrom('judged_sessions')
    .select('sequence')
    .where('canary', '=', canary)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ? row.sequence + 1 : 0
}

function toRow(canary: string, session: JudgedSession): Tables['judged_sessions'] {
  const { sequence, trajectory, reporters, ...judged } = session
  const what = nameOf({ canary, sequence })
  return { canary, sequence, trajectory, reporters: toJson(reporters, what), judged: toJson(judged, what) }
}

/** The row of a session that was drawn. */
function drawOf(
  canary: string,
  { sequence, trajectory, audit, began }: JudgedSession,
): readonly Tables['audit_draws'][] {
  const id = audit?.draw ?? audit?.judge?.draw ?? null
  return id === null ? [] : [{ id, canary, sequence, trajectory, at: began }]
}

function fromRow({ canary, sequence, trajectory, reporters, judged }: Selectable<Tables['judged_sessions']>) {
  const what = nameOf({ canary, sequence })
  const rest = fromJson(judged, what)
  const record = typeof rest === 'object' && rest !== null ? rest : {}
  return parseRecord(JudgedSession, { ...record, sequence, trajectory, reporters: fromJson(reporters, what) }, what)
}

function nameOf({ canary, sequence }: { readonly canary: string; readonly sequence: number }): string {
  return `judged session ${sequence} of canary ${canary}`
}
