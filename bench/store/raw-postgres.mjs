// `pg` by itself, in the tables of the store.
import { Pool } from 'pg'

/** Connections, as many as the store writes with. */
const lanes = 8

export async function openRawPostgres(url) {
  const pool = new Pool({ connectionString: url, max: lanes })
  // Its database may be dropped before the last connection is gone.
  pool.on('error', () => {})
  return {
    rowsOf: async (table) => (await pool.query(`select * from ratchet.${table}`)).rows,
    prepare(inserts) {
      const statements = inserts.map(({ table, columns, values }, i) => ({
        values,
        name: `insert-${table}-${i}`,
        text: `insert into ratchet.${table} (${columns.join(', ')}) values (${columns.map((_, k) => `$${k + 1}`).join(', ')})`,
      }))
      /** Every lane commits its share of the callers' records together. */
      return async (callers, isOver, nextId) => {
        const used = Math.min(lanes, callers)
        const share = callers / used
        const written = await Promise.all(
          Array.from({ length: used }, async () => {
            let written = 0
            const client = await pool.connect()
            while (!isOver()) {
              await client.query('begin')
              for (let i = 0; i < share; i++) {
                const id = nextId()
                for (const { name, text, values } of statements) await client.query({ name, text, values: values(id) })
              }
              await client.query('commit')
              written += share
            }
            client.release()
            return written
          }),
        )
        return written.reduce((sum, count) => sum + count, 0)
      }
    },
    close: () => pool.end(),
  }
}
