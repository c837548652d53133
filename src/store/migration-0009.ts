import { type Kysely, sql } from 'kysely'
import type { Columns } from './engine.ts'
import type { Tables } from './tables.ts'

/** Which gateway is answering a request that may be repeated. */
export async function claimRequests({ schema }: Kysely<Tables>, { text, time, unlogged }: Columns): Promise<void> {
  await schema
    .createTable('request_claims')
    .$call((table) => (unlogged ? table.modifyFront(sql`unlogged`) : table))
    .addColumn('tenant', text, (c) => c.notNull())
    .addColumn('api_key', text, (c) => c.notNull())
    .addColumn('identity', text, (c) => c.notNull())
    .addColumn('body', text, (c) => c.notNull())
    .addColumn('gateway', text, (c) => c.notNull())
    .addColumn('expires_at', time, (c) => c.notNull())
    .addPrimaryKeyConstraint('request_claims_key', ['tenant', 'api_key', 'identity'])
    .execute()
}
