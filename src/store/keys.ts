import type { Insertable, Kysely, Selectable } from 'kysely'
import { ApiKey, type KeyId, type KeyRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { assertSame, fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'

/** API keys, written once; what changes is that one is revoked, for good, and that those of sessions go when they expired. */
export function keyRepository({ read, write }: Access): KeyRepository {
  return {
    put: async (key) => {
      const row = toRow(key)
      await write(async (db) => {
        const { numInsertedOrUpdatedRows: inserted } = await db
          .insertInto('api_keys')
          .values(row)
          .onConflict((c) => c.column('id').doNothing())
          .executeTakeFirstOrThrow()
        if (inserted !== 1n) assertSame(await find(db, key.id), key, `key ${key.id}`)
      })
    },

    get: (id) => read((db) => find(db, id)),

    list: ({ tenant, sessions, limit }) =>
      read(async (db) => {
        const rows = await db
          .selectFrom('api_keys')
          .selectAll()
          .$if(tenant !== undefined, (query) => query.where('tenant', '=', tenant ?? ''))
          .$if(sessions === false, (query) => query.where('session', 'is', null))
          .orderBy('sequence', 'desc')
          .limit(limit)
          .execute()
        return rows.map(fromRow)
      }),

    revoke: (id, at) =>
      write(async (db) => {
        await db
          .updateTable('api_keys')
          .set({ revoked_at: at })
          .where('id', '=', id)
          .where('revoked_at', 'is', null)
          .execute()
        return (await find(db, id)) !== null
      }),

    removeExpired: async (before, limit) => {
      const due = await read((db) => expiredKeys(db, before, limit).execute())
      // Nothing to commit: most looks find nothing.
      if (due.length === 0) return 0
      const ids = due.map(({ id }) => id)
      return write(async (db) => {
        const { numDeletedRows } = await db.deleteFrom('api_keys').where('id', 'in', ids).executeTakeFirstOrThrow()
        return Number(numDeletedRows)
      }, 'expired keys')
    },
  }
}

async function find(db: Kysely<Tables>, id: KeyId): Promise<ApiKey | null> {
  const row = await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
  return row ? fromRow(row) : null
}

/** Session keys that expired before a time: found in their index, however many keys there are. */
export function expiredKeys(db: Kysely<Tables>, before: number, limit: number) {
  return db
    .selectFrom('api_keys')
    .select('id')
    .where('expires_at', '<', before)
    .orderBy('expires_at')
    .orderBy('sequence')
    .limit(limit)
}

function toRow(key: ApiKey): Insertable<Tables['api_keys']> {
  const { id, tenant, name, secretHash, session, createdAt, revokedAt, ...settings } = key
  return {
    id,
    tenant,
    name,
    secret_hash: secretHash,
    session,
    settings: toJson(settings, `key ${id}`),
    created_at: createdAt,
    revoked_at: revokedAt,
    expires_at: session === null ? null : key.expiresAt,
  }
}

function fromRow(row: Selectable<Tables['api_keys']>): ApiKey {
  const { id, tenant, name, session } = row
  const what = `key ${id}`
  const settings = fromJson(row.settings, what)
  return parseRecord(
    ApiKey,
    {
      ...(typeof settings === 'object' ? settings : {}),
      id,
      tenant,
      name,
      secretHash: row.secret_hash,
      session,
      createdAt: row.created_at,
      revokedAt: row.revoked_at,
    },
    what,
  )
}
