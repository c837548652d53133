import type { Kysely, Selectable } from 'kysely'
import { CandidateLevel, type LevelRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { assertSame, parseRecord } from './record.ts'
import type { Tables } from './tables.ts'

/** Levels of candidates. A number that is taken already is a conflict: two candidates cannot spend the same alpha. */
export function levelRepository({ read, write }: Access): LevelRepository {
  return {
    put: (level) =>
      write(async (db) => {
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('candidate_levels')
          .values({ ...level, promoted: level.promoted ? 1 : 0 })
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted === 1n) return
        const stored = await of(db, level.agent).where('candidate', '=', level.candidate).executeTakeFirst()
        assertSame(stored ? fromRow(stored) : null, level, nameOf(level))
      }),

    get: (agent, key) =>
      read(async (db) => {
        const row = await of(db, agent).where('key', '=', key).executeTakeFirst()
        return row ? fromRow(row) : null
      }),

    latest: (agent) =>
      read(async (db) => {
        const row = await of(db, agent).orderBy('candidate', 'desc').limit(1).executeTakeFirst()
        return row ? fromRow(row) : null
      }),

    countPromoted: (agent) =>
      read(async (db) => {
        const { count } = await db
          .selectFrom('candidate_levels')
          .where('agent', '=', agent)
          .where('promoted', '=', 1)
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
        return count
      }),

    promoted: (agent, key) =>
      write(async (db) => {
        await db
          .updateTable('candidate_levels')
          .set({ promoted: 1 })
          .where('agent', '=', agent)
          .where('key', '=', key)
          .execute()
      }),
  }
}

const of = (db: Kysely<Tables>, agent: string) =>
  db.selectFrom('candidate_levels').selectAll().where('agent', '=', agent)

function fromRow({ promoted, ...row }: Selectable<Tables['candidate_levels']>): CandidateLevel {
  return parseRecord(CandidateLevel, { ...row, promoted: promoted === 1 }, nameOf(row))
}

function nameOf({ agent, candidate }: { readonly agent: string; readonly candidate: number }): string {
  return `level of candidate ${candidate} of ${agent}`
}
