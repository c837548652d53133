import type { Kysely } from 'kysely'
import type { ClaimedRequest, ClaimRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import type { Tables } from './tables.ts'

/** A claim that expired so long ago is nobody's, and in nobody's way: it is removed. Milliseconds. */
const keptMs = 60_000

/**
 * Claims on requests. Who takes one that another gateway takes at the same moment waits at its row, and sees what that one
 * did. Claims are few, as many as calls are under way, and need not outlive the database: PostgreSQL writes no log of them.
 */
export function claimRepository({ write }: Access): ClaimRepository {
  return {
    take: (request, gateway, { now, ttlMs }) =>
      write(async (db) => {
        const { tenant, apiKey, identity } = request
        const taken = await db
          .insertInto('request_claims')
          .values({
            tenant,
            api_key: apiKey,
            identity: identity.key,
            body: identity.body,
            gateway,
            expires_at: now + ttlMs,
          })
          .onConflict((c) =>
            c
              .columns(['tenant', 'api_key', 'identity'])
              .doUpdateSet((eb) => ({
                body: eb.ref('excluded.body'),
                gateway: eb.ref('excluded.gateway'),
                expires_at: eb.ref('excluded.expires_at'),
              }))
              .where((eb) =>
                eb.or([
                  eb('request_claims.gateway', '=', eb.ref('excluded.gateway')),
                  eb('request_claims.expires_at', '<=', now),
                ]),
              ),
          )
          .executeTakeFirstOrThrow()
        if (taken.numInsertedOrUpdatedRows === 1n) return null
        // It is held in place by the conflict.
        const { body, expires_at } = await of(db, request).select(['body', 'expires_at']).executeTakeFirstOrThrow()
        return { body, expiresAt: expires_at }
      }, touched(request)),

    renew: (gateway, { now, ttlMs }) =>
      write(async (db) => {
        await db
          .updateTable('request_claims')
          .set({ expires_at: now + ttlMs })
          .where('gateway', '=', gateway)
          .execute()
        await db
          .deleteFrom('request_claims')
          .where('expires_at', '<', now - keptMs)
          .execute()
      }),

    release: (request, gateway) =>
      write(async (db) => {
        await db
          .deleteFrom('request_claims')
          .where('tenant', '=', request.tenant)
          .where('api_key', '=', request.apiKey)
          .where('identity', '=', request.identity.key)
          .where('gateway', '=', gateway)
          .execute()
      }, touched(request)),
  }
}

function of(db: Kysely<Tables>, { tenant, apiKey, identity }: ClaimedRequest) {
  return db
    .selectFrom('request_claims')
    .where('tenant', '=', tenant)
    .where('api_key', '=', apiKey)
    .where('identity', '=', identity.key)
}

function touched({ tenant, apiKey, identity }: ClaimedRequest): string {
  return `claim of ${tenant} ${apiKey} ${identity.key}`
}
