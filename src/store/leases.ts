import type { Selectable } from 'kysely'
import { Lease, type LeaseRepository } from '../core/index.ts'
import type { Access } from './access.ts'
import { parseRecord } from './record.ts'
import type { Tables } from './tables.ts'

/**
 * Leases. Each change is one statement that looks and writes at once: of processes that want the same lease, the database
 * lets one at its row, and the next sees what that one did.
 *
 * A token belongs to one holding, from taking to losing it. One that has expired is its holder's still, to renew, until
 * another takes it: nobody else had it meanwhile. Whether it has expired is told by the clock of whoever asks, so clocks
 * of several machines must agree to a part of its length; where they do not, the token still tells the later holder.
 */
export function leaseRepository({ read, write }: Access): LeaseRepository {
  return {
    acquire: (name, holder, { now, ttlMs }) =>
      write(async (db) => {
        const row = await db
          .insertInto('leases')
          .values({ name, holder, token: 1, expires_at: now + ttlMs })
          .onConflict((c) =>
            c
              .column('name')
              .doUpdateSet((eb) => ({
                holder: eb.ref('excluded.holder'),
                expires_at: eb.ref('excluded.expires_at'),
                token: eb
                  .case()
                  .when(
                    eb.and([eb('leases.holder', '=', eb.ref('excluded.holder')), eb('leases.expires_at', '>', now)]),
                  )
                  .then(eb.ref('leases.token'))
                  .else(eb('leases.token', '+', eb.lit(1)))
                  .end(),
              }))
              .where((eb) =>
                eb.or([
                  eb('leases.holder', 'is', null),
                  eb('leases.holder', '=', eb.ref('excluded.holder')),
                  eb('leases.expires_at', '<=', now),
                ]),
              ),
          )
          .returningAll()
          .executeTakeFirst()
        return row ? toLease(row) : null
      }, touched(name)),

    renew: ({ name, holder, token }, { now, ttlMs }) =>
      write(async (db) => {
        const row = await db
          .updateTable('leases')
          .set({ expires_at: now + ttlMs })
          .where('name', '=', name)
          .where('holder', '=', holder)
          .where('token', '=', token)
          .returningAll()
          .executeTakeFirst()
        return row ? toLease(row) : null
      }, touched(name)),

    release: ({ name, holder, token }) =>
      write(async (db) => {
        await db
          .updateTable('leases')
          .set({ holder: null })
          .where('name', '=', name)
          .where('holder', '=', holder)
          .where('token', '=', token)
          .execute()
      }, touched(name)),

    get: (name) =>
      read(async (db) => {
        const row = await db
          .selectFrom('leases')
          .selectAll()
          .where('name', '=', name)
          .where('holder', 'is not', null)
          .executeTakeFirst()
        return row ? toLease(row) : null
      }),
  }
}

function touched(name: string): string {
  return `lease ${name}`
}

function toLease({ expires_at: expiresAt, ...lease }: Selectable<Tables['leases']>): Lease {
  return parseRecord(Lease, { ...lease, expiresAt }, `lease ${lease.name}`)
}
