import type { Compilable, CompiledQuery, Kysely } from 'kysely'
import { present } from '../errors/index.ts'
import type { Tables } from './tables.ts'

/** Stands for a parameter while its statement is compiled. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * A statement that is built and compiled once for each database, for where thousands run a second: to build one costs
 * twice what SQLite needs to run it.
 * @param build makes the statement, of stand-ins for the parameters: it may place them, not look at them.
 * @returns runs it with parameters that have the same names each time; resolves to the number of rows it wrote.
 */
export function compiledStatement<P extends Readonly<Record<string, unknown>>>(
  build: (db: Kysely<Tables>, parameters: P) => Compilable,
): (db: Kysely<Tables>, parameters: P) => Promise<bigint> {
  // One adapter is made with each database, and its transactions share it.
  const known = new WeakMap<object, CompiledQuery>()
  const compiledFor = (db: Kysely<Tables>, parameters: P): CompiledQuery => {
    const { adapter } = db.getExecutor()
    const query = known.get(adapter) ?? build(db, standIns(parameters)).compile()
    known.set(adapter, query)
    return query
  }
  return async (db, parameters) => {
    const query = compiledFor(db, parameters)
    const bound = query.parameters.map((given) => (given instanceof Placeholder ? parameters[given.name] : given))
    const { numAffectedRows } = await db.executeQuery({ ...query, parameters: bound })
    return present(numAffectedRows, 'the number of rows written')
  }
}

function standIns<P extends Readonly<Record<string, unknown>>>(parameters: P): P {
  return Object.fromEntries(Object.keys(parameters).map((name) => [name, new Placeholder(name)])) as P
}
