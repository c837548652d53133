// SQLite's driver by itself, with the settings and the tables of the store.

/** `node:sqlite` where the store uses it, else the package that it uses. */
async function load() {
  const builtin = process.getBuiltinModule?.('node:sqlite')
  return builtin?.StatementSync.prototype.columns ? builtin : import('@photostructure/sqlite')
}

/** @param path of a store that is closed. */
export async function openRawSqlite(path) {
  const { DatabaseSync } = await load()
  const database = new DatabaseSync(path)
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on')
  const [begin, commit] = ['begin immediate', 'commit'].map((sql) => database.prepare(sql))
  return {
    rowsOf: (table) => database.prepare(`select * from ${table}`).all(),
    prepare(inserts) {
      const statements = inserts.map(({ table, columns, values }) => ({
        values,
        statement: database.prepare(
          `insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
        ),
      }))
      /** One transaction of as many records as there are callers: the best that group commit can come to. */
      return async (callers, isOver, nextId) => {
        let written = 0
        while (!isOver()) {
          begin.run()
          for (let i = 0; i < callers; i++) {
            const id = nextId()
            for (const { statement, values } of statements) statement.run(...values(id))
          }
          commit.run()
          written += callers
          await new Promise((resolve) => setImmediate(resolve))
        }
        return written
      }
    },
    close: () => database.close(),
  }
}
