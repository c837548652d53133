import type { Kysely } from 'kysely'
import { compiledStatement } from './compiled-statement.ts'
import type { Tables } from './tables.ts'

/** What changes of what serves write to at the same time: the row of the revision. */
export const whatServes = 'what serves'

const onlyRow = 1

/**
 * Says that what serves changes. First of all that a change does: whoever else changes it waits here until this one has
 * ended, also in another process, and then sees what it did.
 */
export async function raiseRevision(db: Kysely<Tables>): Promise<void> {
  await db
    .insertInto('serving_revision')
    .values({ id: onlyRow, revision: 1 })
    .onConflict((c) =>
      c.column('id').doUpdateSet((eb) => ({ revision: eb('serving_revision.revision', '+', eb.lit(1)) })),
    )
    .execute()
}

const select = compiledStatement<{ readonly id: number }, Pick<Tables['serving_revision'], 'revision'>>((db, { id }) =>
  db.selectFrom('serving_revision').select('revision').where('id', '=', id),
)

/** 0 before the first change. */
export async function readRevision(db: Kysely<Tables>): Promise<number> {
  const { rows } = await select(db, { id: onlyRow })
  return rows[0]?.revision ?? 0
}
