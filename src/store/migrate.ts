import type { Kysely } from 'kysely'
import { CorruptStoreError, NewerSchemaError, OlderSchemaError } from './errors/index.ts'
import type { Migration } from './migrations.ts'
import type { Tables } from './tables.ts'

/**
 * Brings a database to the schema of this Ratchet, in one transaction: all pending migrations or none.
 * @throws NewerSchemaError when the database has migrations that `known` does not have.
 * @throws CorruptStoreError when it is a database of something else.
 */
export async function migrate(db: Kysely<Tables>, path: string, known: readonly Migration[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const applied = await appliedMigrations(tx, path)
    refuseNewer(applied, path, known)
    if (applied.length === 0) {
      await tx.schema
        .createTable('migrations')
        .ifNotExists()
        .addColumn('name', 'text', (c) => c.primaryKey())
        .addColumn('applied_at', 'bigint', (c) => c.notNull())
        .execute()
    }
    for (const migration of known.filter(({ name }) => !applied.includes(name))) {
      await migration.up(tx)
      await tx.insertInto('migrations').values({ name: migration.name, applied_at: Date.now() }).execute()
    }
  })
}

/**
 * Checks that a database has exactly the schema of this Ratchet, for those who may not change it.
 * @throws NewerSchemaError | OlderSchemaError | CorruptStoreError
 */
export async function assertMigrated(db: Kysely<Tables>, path: string, known: readonly Migration[]): Promise<void> {
  const applied = await appliedMigrations(db, path)
  refuseNewer(applied, path, known)
  const pending = known.map(({ name }) => name).filter((name) => !applied.includes(name))
  if (pending.length > 0) throw new OlderSchemaError(path, pending)
}

async function appliedMigrations(db: Kysely<Tables>, path: string): Promise<readonly string[]> {
  const tables = (await db.introspection.getTables()).map(({ name }) => name)
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
