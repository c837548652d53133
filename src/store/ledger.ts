import { HoldoutUse, type LedgerRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { assertSame, parseRecord } from './record.ts'

/** The holdout ledger. A use that is taken already is a conflict: two gates cannot spend the same alpha. */
export function ledgerRepository({ read, write }: Access): LedgerRepository {
  return {
    append: (use) =>
      write(async (db) => {
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

    uses: (holdout) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('holdout_uses')
          .selectAll()
          .where('holdout', '=', holdout)
          .orderBy('use')
          .execute()
        return rows.map((row) => parseRecord(HoldoutUse, { ...row }, nameOf(row)))
      }),
  }
}

function nameOf({ holdout, use }: { readonly holdout: string; readonly use: number }): string {
  return `use ${use} of holdout ${holdout}`
}
