import type { Kysely } from 'kysely'
import type { Engine } from './engine.ts'
import { CorruptStoreError, NewerSchemaError, OlderSchemaError } from './errors/index.ts'
import type { Migration } from './migrations.ts'
import type { Tables } from './tables.ts'

/** The database to migrate. */
export interface Migrated {
  readonly db: Kysely<Tables>
  readonly engine: Engine
  /** For messages. */
  readonly path: string
}

/**
 * Brings a database to the schema of this Ratchet, in one transaction: all pending migrations or none. Of processes that
 * start at once, one migrates and the others wait for it.
 * @throws NewerSchemaError when the database has migrations that `known` does not have.
 * @throws CorruptStoreError when it is a database of something else.
 */
export async function migrate({ db, engine, path }: Migrated, known: readonly Migration[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await engine.beginMigration(tx)
    const applied = await appliedMigrations({ db: tx, engine, path })
    refuseNewer(applied, path, known)
    if (applied.length === 0) {
      await tx.schema
        .createTable('migrations')
        .ifNotExists()
        .addColumn('name', engine.columns.text, (c) => c.primaryKey())
        .addColumn('applied_at', engine.columns.time, (c) => c.notNull())
        .execute()
    }
    for (const migration of known.filter(({ name }) => !applied.includes(name))) {
      await migration.up(tx, engine.columns)
      await tx.insertInto('migrations').values({ name: migration.name, applied_at: Date.now() }).execute()
    }
  })
}

/**
 * Checks that a database has exactly the schema of this Ratchet, for those who may not change it.
 * @throws NewerSchemaError | OlderSchemaError | CorruptStoreError
 */
export async function assertMigrated(database: Migrated, known: readonly Migration[]): Promise<void> {
  const applied = await appliedMigrations(database)
  refuseNewer(applied, database.path, known)
  const pending = known.map(({ name }) => name).filter((name) => !applied.includes(name))
  if (pending.length > 0) throw new OlderSchemaError(database.path, pending)
}

async function appliedMigrations({ db, engine, path }: Migrated): Promise<readonly string[]> {
  const tables = await engine.tables(db)
  if (tables.length === 0) return []
  if (!tables.includes('migrations')) {
    throw new CorruptStoreError(path, `it is a database of something else (tables: ${tables.slice(0, 5).join(', ')})`)
  }
  return (await db.selectFrom('migrations').select('name').orderBy('name').execute()).map(({ name }) => name)
}

function refuseNewer(applied: readonly string[], path: string, known: readonly Migration[]): void {
  const names = new Set(known.map(({ name }) => name))
  const unknown = applied.filter((name) => !names.has(name))
  if (unknown.length > 0) throw new NewerSchemaError(path, unknown)
}
