// The rows that the store makes of one record, read back from its tables: what the raw drivers insert, byte for byte.

/** In the order in which they refer to each other. */
export const tables = [
  'trajectories',
  'trajectory_payloads',
  'trajectory_parts',
  'produced_turns',
  'request_identities',
]

/**
 * Inserts of one record: for each row its table, columns, and a function from an id to its values.
 * @param rowsOf reads all rows of a table.
 * @param id the record's; short texts that hold it, keys, hold another record's id in its place.
 */
export async function insertsOf(rowsOf, id) {
  const inserts = []
  for (const table of tables) {
    for (const row of await rowsOf(table)) {
      const entries = Object.entries(row).filter(([column]) => column !== 'sequence')
      const columns = entries.map(([column]) => column)
      const isKey = (value) => typeof value === 'string' && value.length < 100 && value.includes(id)
      const makers = entries.map(([, value]) => (isKey(value) ? (other) => value.replace(id, other) : () => value))
      inserts.push({ table, columns, values: (other) => makers.map((make) => make(other)) })
    }
  }
  return inserts
}
