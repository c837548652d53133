import type { Compilable, CompiledQuery, Kysely, QueryResult, SqliteDatabase } from 'kysely'
import { present } from '../errors/index.ts'
import { sqliteBehind } from './sqlite-driver.ts'
import type { Tables } from './tables.ts'

/** Stands for a parameter while its statement is compiled. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

type Parameters = Readonly<Record<string, unknown>>

/**
 * A statement that is built and compiled once for each database, for where thousands run a second: to build one costs
 * twice what SQLite needs to run it.
 * @param build makes the statement, of stand-ins for the parameters: it may place them, not look at them.
 * @returns runs it with parameters that have the same names each time.
 */
export function compiledStatement<P extends Parameters, R = unknown>(
  build: (db: Kysely<Tables>, parameters: P) => Compilable<R>,
): (db: Kysely<Tables>, parameters: P) => Promise<QueryResult<R>> {
  // One adapter is made with each database, and its transactions share it.
  const known = new WeakMap<object, CompiledQuery<R>>()
  return async (db, parameters) => {
    const { adapter } = db.getExecutor()
    const query = known.get(adapter) ?? build(db, standIns(parameters)).compile()
    known.set(adapter, query)
    const bound = query.parameters.map((given) => (given instanceof Placeholder ? parameters[given.name] : given))
    // Who is in a transaction has the connection: asking for it again would cost as much as most statements do.
    const sqlite = db.isTransaction ? sqliteBehind(adapter) : undefined
    return sqlite ? runNow<R>(sqlite, query.sql, bound) : db.executeQuery({ ...query, parameters: bound })
  }
}

/** {@link compiledStatement} for one that writes: resolves to the number of rows that it wrote. */
export function compiledWrite<P extends Parameters>(
  build: (db: Kysely<Tables>, parameters: P) => Compilable,
): (db: Kysely<Tables>, parameters: P) => Promise<bigint> {
  const statement = compiledStatement(build)
  return async (db, parameters) =>
    present((await statement(db, parameters)).numAffectedRows, 'the number of rows written')
}

function runNow<R>(sqlite: SqliteDatabase, sql: string, parameters: readonly unknown[]): QueryResult<R> {
  const statement = sqlite.prepare(sql)
  if (statement.reader) return { rows: statement.all(parameters) as R[] }
  return { rows: [], numAffectedRows: BigInt(statement.run(parameters).changes) }
}

function standIns<P extends Parameters>(parameters: P): P {
  return Object.fromEntries(Object.keys(parameters).map((name) => [name, new Placeholder(name)])) as P
}
