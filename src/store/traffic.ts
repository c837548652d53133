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
      let recovered = 0
      const failures: unknown[] = []
      for (const { call } of due) {
        try {
          if (await write((db) => recoverCall(db, call, before))) recovered++
        } catch (error) {
          failures.push(error)
        }
      }
      // One that cannot be read fails this, but does not keep the others from being kept.
      if (failures.length > 0) throw failures[0]
      return recovered
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
function turnsWith(db: Kysely<Tables>, key: string, tenant: Tenant, digests: readonly string[]) {
  const values = sql.join(digests.map((digest) => sql`(${digest})`))
  return db
    .with('wanted(digest)', () => sql<{ digest: string }>`(values ${values})`)
    .selectFrom('wanted')
    .innerJoin('produced_turns as turn', (join) =>
      join
        .onRef('turn.digest', '=', 'wanted.digest')
        .on('turn.api_key', '=', key)
        .on('turn.tenant', '=', tenant)
        .on('turn.sequence', '>=', (eb) =>
          eb.fn.coalesce(
            eb
              .selectFrom('produced_turns as known')
              .select('known.sequence')
              .whereRef('known.digest', '=', 'wanted.digest')
              .where('known.api_key', '=', key)
              .where('known.tenant', '=', tenant)
              .orderBy('known.sequence', 'desc')
              .limit(1)
              .offset(turnsOfDigest - 1),
            eb.lit(0),
          ),
        ),
    )
    .select(['turn.sequence', 'turn.digest', 'turn.node', 'turn.trajectory'])
    .execute()
}
