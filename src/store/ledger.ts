import type { Kysely } from 'kysely'
import { HoldoutUse, type LedgerRepository, type TaskId } from '../core/index.ts'
import type { Access } from './access.ts'
import { assertSame, parseRecord } from './record.ts'
import type { Tables } from './tables.ts'

/** Rows of one insert and names of one query. */
const tasksAtOnce = 500

/** The holdout ledger. A use that is taken already is a conflict: two gates cannot spend the same alpha. */
export function ledgerRepository({ read, write }: Access): LedgerRepository {
  return {
    append: (use, tasks) =>
      write(async (db) => {
        for (const some of chunksOf(tasks)) {
          await db
            .insertInto('holdout_tasks')
            .values(some.map((task) => ({ task, holdout: use.holdout })))
            .onConflict((c) => c.doNothing())
            .execute()
        }
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('holdout_uses')
          .values(use)
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted === 1n) return
        const stored = await db
          .selectFrom('holdout_uses')
          .selectAll()
          .where('holdout', '=', use.holdout)
          .where('use', '=', use.use)
          .executeTakeFirstOrThrow()
        assertSame(stored, use, nameOf(use))
      }),

    uses: (tasks) =>
      read(async (db) => {
        const holdouts = new Set<string>()
        for (const some of chunksOf(tasks)) for (const holdout of await holdoutsWith(db, some)) holdouts.add(holdout)
        const uses: HoldoutUse[] = []
        for (const some of chunksOf([...holdouts])) {
          const rows = await db.selectFrom('holdout_uses').selectAll().where('holdout', 'in', some).execute()
          uses.push(...rows.map((row) => parseRecord(HoldoutUse, { ...row }, nameOf(row))))
        }
        return uses.toSorted((a, b) => a.use - b.use)
      }),
  }
}

async function holdoutsWith(db: Kysely<Tables>, tasks: readonly TaskId[]): Promise<readonly string[]> {
  const rows = await db.selectFrom('holdout_tasks').select('holdout').distinct().where('task', 'in', tasks).execute()
  return rows.map(({ holdout }) => holdout)
}

function chunksOf<T>(all: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / tasksAtOnce) }, (_, i) =>
    all.slice(i * tasksAtOnce, (i + 1) * tasksAtOnce),
  )
}

function nameOf({ holdout, use }: { readonly holdout: string; readonly use: number }): string {
  return `use ${use} of holdout ${holdout}`
}
