import { CallId, type TrafficRepository, TrajectoryId } from '../core/index.ts'
import type { Access } from './access.ts'
import { recoverCall, toPendingRow, writePending } from './pending.ts'
import { parseRecord } from './record.ts'
import { type CallRows, commitCall, toCallRowsInParts } from './recorded-call.ts'
import { turnsOf } from './turns.ts'

/** What a thread that writes calls is asked: what it gets has been serialized. */
export interface RowsOfTraffic extends TrafficRepository {
  /** @throws what `append` throws, but for `UnstorableValueError`. */
  appendRows(rows: CallRows): Promise<void>
}

/** Calls through the gateway, as an agent works; `trajectories` puts them together. */
export function trafficRepository({ read, write }: Access): RowsOfTraffic {
  const appendRows = (rows: CallRows) => write((db) => commitCall(db, rows), callsOf(rows.trajectory.id))
  return {
    // Serialized before the transaction begins: what cannot be stored fails alone, and the disk does not wait for it.
    append: async (call) => appendRows(await toCallRowsInParts(call)),

    appendRows,

    savePending: async (pending) => {
      const pendingRow = toPendingRow(pending)
      await write((db) => writePending(db, pendingRow), callsOf(pending.head.id))
    },

    recoverPending: async (before) => {
      const due = await read((db) =>
        db.selectFrom('pending_calls').select(['call', 'trajectory']).where('updated_at', '<', before).execute(),
      )
      let recovered = 0
      const failures: unknown[] = []
      for (const { call, trajectory } of due) {
        try {
          if (await write((db) => recoverCall(db, call, before), callsOf(trajectory))) recovered++
        } catch (error) {
          failures.push(error)
        }
      }
      // One that cannot be read fails this, but does not keep the others from being kept.
      if (failures.length > 0) throw failures[0]
      return recovered
    },

    turns: (key, tenant, digests) => read((db) => turnsOf(db, key, tenant, digests)),

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

/** What calls of one trajectory write to at the same time: its row. */
function callsOf(trajectory: string): string {
  return `calls of ${trajectory}`
}
