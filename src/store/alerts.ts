import type { Kysely, Selectable } from 'kysely'
import { Alert, type AlertRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { assertSame, fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'

/** Alerts, written once; the one thing that is noted later is the run that one opened. */
export function alertRepository({ read, write }: Access): AlertRepository {
  return {
    put: async (alert) => {
      const { id, run } = alert
      const what = `alert ${id}`
      const row = { ...alert, evidence: toJson(alert.evidence, what) }
      await write(async (db) => {
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('alerts')
          .values(row)
          .onConflict((c) => c.column('id').doNothing())
          .executeTakeFirstOrThrow()
        if (inserted === 1n) return
        assertSame({ ...(await find(db, id)), run }, alert, what)
        // Written again as it was before it opened a run, it forgets nothing.
        if (run !== null) await db.updateTable('alerts').set({ run }).where('id', '=', id).execute()
      }, `alert ${id}`)
    },

    get: (id) => read((db) => find(db, id)),

    list: ({ agent, kind, since, limit }) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('alerts')
          .selectAll()
          .$if(agent !== undefined, (query) => query.where('agent', '=', agent ?? ''))
          .$if(kind !== undefined, (query) => query.where('kind', '=', kind ?? ''))
          .$if(since !== undefined, (query) => query.where('at', '>=', since ?? 0))
          .orderBy('at', 'desc')
          .orderBy('sequence', 'desc')
          .limit(limit)
          .execute()
        return rows.map(fromRow)
      }),
  }
}

async function find(db: Kysely<Tables>, id: string): Promise<Alert | null> {
  const row = await db.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? fromRow(row) : null
}

function fromRow(row: Selectable<Tables['alerts']>): Alert {
  const what = `alert ${row.id}`
  const { id, agent, kind, name, message, run, at } = row
  return parseRecord(Alert, { id, agent, kind, name, message, evidence: fromJson(row.evidence, what), run, at }, what)
}
