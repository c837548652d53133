import { type Kysely, sql } from 'kysely'
import { CallId, type KnownTurn, NodeId, type Tenant, type TrafficRepository, TrajectoryId } from '../core/index.ts'
import type { Access } from './access.ts'
import { recoverCall, toPendingRow, writePending } from './pending.ts'
import { parseRecord } from './record.ts'
import { commitCall, toCallRows } from './recorded-call.ts'
import type { Tables } from './tables.ts'

/** Digests that one query asks for. */
const digestsAtOnce = 256
/**
 * Turns that are told of one digest. A greeting and its answer come again and again: the latest count, and they must not
 * crowd out a longer conversation, whose digest is its own.
 */
const turnsOfDigest = 8

/** Calls through the gateway, as an agent works; `trajectories` puts them together. */
export function trafficRepository({ read, write }: Access): TrafficRepository {
  return {
    append: async (call) => {
      // Serialized before the transaction begins: what cannot be stored fails alone, and the disk does not wait for it.
      const rows = toCallRows(call)
      await write((db) => commitCall(db, rows))
    },

    savePending: async (pending) => {
      const row = toPendingRow(pending)
      await write((db) => writePending(db, row))
    },

    recoverPending: async (before) => {
      const due = await read((db) =>
        db.selectFrom('pending_calls').select('call').where('updated_at', '<', before).execute(),
      )
      const outcomes = await Promise.allSettled(due.map(({ call }) => write((db) => recoverCall(db, call, before))))
      // One that cannot be read fails this, but does not keep the others from being kept.
      const failed = outcomes.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
      return outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length
    },

    turns: (key, tenant, digests) =>
      read(async (db) => {
        const found: Awaited<ReturnType<typeof turnsWith>>[number][] = []
        const distinct = [...new Set(digests)]
        for (let start = 0; start < distinct.length; start += digestsAtOnce) {
          found.push(...(await turnsWith(db, key, tenant, distinct.slice(start, start + digestsAtOnce))))
        }
        return found
          .toSorted((a, b) => b.sequence - a.sequence)
          .map(({ digest, node, trajectory }): KnownTurn => {
            const what = `turn ${node} of trajectory ${trajectory}`
            return {
              digest,
              node: parseRecord(NodeId, node, what),
              trajectory: parseRecord(TrajectoryId, trajectory, what),
            }
          })
      }),

    request: (key, tenant, identity) =>
      read(async (db) => {
        const row = await db
          .selectFrom('request_identities')
          .select(['body', 'trajectory', 'call'])
          .where('tenant', '=', tenant)
          .where('api_key', '=', key)
          .where('identity', '=', identity.key)
          .executeTakeFirst()
        if (!row) return null
        const what = `request ${identity.key}`
        return {
          body: row.body,
          trajectory: parseRecord(TrajectoryId, row.trajectory, what),
          call: parseRecord(CallId, row.call, what),
        }
      }),
  }
}

/** The latest turns of each digest: by the index, however many a digest has. */
async function turnsWith(db: Kysely<Tables>, key: string, tenant: Tenant, digests: readonly string[]) {
  const wanted = sql`values ${sql.join(digests.map((digest) => sql`(${digest})`))}`
  const { rows } = await sql<Pick<Tables['produced_turns'], 'digest' | 'node' | 'trajectory'> & { sequence: number }>`
    with wanted(digest) as (${wanted})
    select turn.sequence, turn.digest, turn.node, turn.trajectory
    from wanted
    join produced_turns as turn
      on turn.digest = wanted.digest and turn.api_key = ${key} and turn.tenant = ${tenant}
      and turn.sequence >= coalesce((
        select known.sequence
        from produced_turns as known
        where known.digest = wanted.digest and known.api_key = ${key} and known.tenant = ${tenant}
        order by known.sequence desc
        limit 1 offset ${sql.lit(turnsOfDigest - 1)}
      ), 0)`.execute(db)
  return rows
}
