import type { Kysely } from 'kysely'
import { Receipt, type ReceiptRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { assertSame, fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'

/** Gates' receipts, written once. */
export function receiptRepository({ read, write }: Access): ReceiptRepository {
  return {
    put: (receipt) =>
      write(async (db) => {
        const { id, agent, decision } = receipt
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('receipts')
          .values({ id, agent, decision, receipt: toJson(receipt, `receipt ${id}`) })
          .onConflict((c) => c.doNothing())
          .executeTakeFirstOrThrow()
        if (inserted !== 1n) assertSame(await find(db, id), receipt, `receipt ${id}`)
      }),

    get: (id) => read((db) => find(db, id)),
  }
}

async function find(db: Kysely<Tables>, id: string): Promise<Receipt | null> {
  const row = await db.selectFrom('receipts').select('receipt').where('id', '=', id).executeTakeFirst()
  return row ? parseRecord(Receipt, fromJson(row.receipt, `receipt ${id}`), `receipt ${id}`) : null
}
