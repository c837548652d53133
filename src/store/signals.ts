import { Signal, type SignalRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { fromJson, parseRecord, toJson } from './record.ts'

/** Rows of one insert. */
const rowsPerInsert = 256

/** Signals. They may arrive before their trajectory: nothing but the key holds them to anything. */
export function signalRepository({ read, write }: Access): SignalRepository {
  return {
    append: async (signals) => {
      const rows = signals.map((signal) => ({ ...signal, value: toJson(signal.value, `signal ${signal.key}`) }))
      await write(async (db) => {
        for (let start = 0; start < rows.length; start += rowsPerInsert) {
          await db
            .insertInto('signals')
            .values(rows.slice(start, start + rowsPerInsert).map((row) => ({ ...row, received_at: Date.now() })))
            .onConflict((c) => c.columns(['tenant', 'key']).doNothing())
            .execute()
        }
      })
      return signals.map(() => 'recorded')
    },

    of: (trajectory) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('signals')
          .selectAll()
          .where('trajectory', '=', trajectory)
          .orderBy('at')
          .orderBy('key')
          .execute()
        return rows.map(({ received_at: _, ...row }) => {
          const what = `signal ${row.key}`
          return parseRecord(Signal, { ...row, value: fromJson(row.value, what) }, what)
        })
      }),
  }
}
