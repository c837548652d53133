import { type Insertable, type Kysely, sql } from 'kysely'
import { partSize, type RecordedCall, type Reward, type TrafficHead, TrajectoryPart, turns } from '../core/index.ts'
import { compiledWrite } from './compiled-statement.ts'
import { type ErasableCall, erasedSubject, erasedTrajectory, isErased } from './erasures.ts'
import { ErasedCallError, RecordConflictError } from './errors/index.ts'
import { packed, unpacked } from './packed-spans.ts'
import { assertSame, fromJson, parseRecord, toJson, toJsonInParts } from './record.ts'
import type { Tables } from './tables.ts'
import { originColumns, shown } from './trajectory-rows.ts'

const unscored: Reward = { status: 'missing', value: null, parts: {}, reason: 'It was not scored yet.' }
const unscoredJson = toJson(unscored, 'reward that is missing')

/** One call as rows, serialized before the transaction that writes them begins: texts and numbers alone. */
export interface CallRows {
  readonly trajectory: Insertable<Tables['trajectories']>
  readonly payload: Insertable<Tables['trajectory_parts']>
  readonly turns: readonly Insertable<Tables['produced_turns']>[]
  readonly identity: Insertable<Tables['request_identities']> | null
  readonly erasable: ErasableCall
}

/** @throws UnstorableValueError */
export function toCallRows(call: RecordedCall): CallRows {
  const { head, part } = call
  return rowsOf(call, toJson(head, nameOfHead(head)), toJson(packed(part), nameOf(part.call, head.id)))
}

/**
 * The same of a call that may be heavy: in parts, between which others are served.
 * @throws UnstorableValueError
 */
export async function toCallRowsInParts(call: RecordedCall): Promise<CallRows> {
  const { head, part, weight = 0 } = call
  if (weight <= partSize) return toCallRows(call)
  const headJson = await toJsonInParts(head, nameOfHead(head))
  const partJson = await toJsonInParts(packed(part), nameOf(part.call, head.id))
  // Whoever writes them copies them, which is a part of its own.
  await turns.next(weight)
  return rowsOf(call, headJson, partJson)
}

function rowsOf({ head, part, turns, identity }: RecordedCall, headJson: string, partJson: string): CallRows {
  const { id: trajectory, origin, task, startedAt } = head
  const { call } = part
  const { tenant, key: api_key } = origin
  const at = part.endedAt
  const updated_at = Math.max(at, startedAt)
  return {
    trajectory: {
      id: trajectory,
      run: null,
      task: task.id,
      task_group: trajectory,
      split: 'train',
      tier: null,
      stop_reason: part.stopReason,
      reward_status: unscored.status,
      reward_value: unscored.value,
      reward: unscoredJson,
      started_at: startedAt,
      seconds: (updated_at - startedAt) / 1000,
      ...originColumns(origin),
      instruction: shown(task.instruction),
      updated_at,
      head: headJson,
    },
    payload: { call, trajectory, payload: partJson, at },
    turns: turns.map(({ digest, node }) => ({ tenant, api_key, digest, trajectory, node })),
    identity: identity && { tenant, api_key, identity: identity.key, body: identity.body, trajectory, call, at },
    erasable: erasableCall(head),
  }
}

/** By what erasures are looked up for a call. */
export function erasableCall({ id, origin: { tenant, subject }, startedAt }: TrafficHead): ErasableCall {
  return { within: erasedTrajectory(id), about: subject === null ? '' : erasedSubject(tenant, subject), startedAt }
}

/**
 * Commits a call, and forgets what was pending of it. A call that is known changes nothing; one that was given up for dead
 * (`recoverPending`) and ends after all takes the place of its half answer.
 * @throws RecordConflictError for a known call with another content, and for a trajectory that is another tenant's or was
 * written whole.
 * @throws ErasedCallError for a call that began before its person or its trajectory was erased.
 */
export async function commitCall(db: Kysely<Tables>, rows: CallRows): Promise<void> {
  const { call } = rows.payload
  if (!(await addCall(db, rows)) && (await isHalfOf(db, rows))) {
    await db.deleteFrom('trajectory_parts').where('call', '=', call).execute()
    await addCall(db, rows)
  }
  await deletePending(db, { call })
}

/**
 * Opens the call's trajectory or adds to it.
 * @returns whether it did: a call that is known is not added again.
 * @throws ErasedCallError
 */
export async function addCall(db: Kysely<Tables>, rows: CallRows): Promise<boolean> {
  const { call } = rows.payload
  // The trajectory first: whoever else writes to it or removes it waits there, and its parts keep their order.
  if ((await putTrajectory(db, { ...rows.trajectory, call })) === 0n) return false
  const { erasable } = rows
  if ((await insertPart(db, { ...rows.payload, ...erasable })) === 0n) {
    if (await isErased(db, erasable)) throw new ErasedCallError(call)
    return false
  }
  const { id, subject } = rows.trajectory
  if (typeof subject === 'string') await putSubject(db, { id, subject })
  for (const turn of rows.turns) await insertTurn(db, turn)
  if (rows.identity) await putIdentity(db, rows.identity)
  return true
}

/** Opens the trajectory, or tells its row what this call knows; neither when the call is known. */
const putTrajectory = compiledWrite<Insertable<Tables['trajectories']> & { readonly call: string }>(
  (db, { call, ...row }) =>
    db
      .insertInto('trajectories')
      .values(row)
      .onConflict((c) =>
        c
          .column('id')
          .doUpdateSet((eb) => {
            const later = eb('excluded.updated_at', '>', eb.ref('trajectories.updated_at'))
            return {
              stop_reason: eb.ref('excluded.stop_reason'),
              updated_at: eb
                .case()
                .when(later)
                .then(eb.ref('excluded.updated_at'))
                .else(eb.ref('trajectories.updated_at'))
                .end(),
              seconds: eb
                .case()
                .when(later)
                .then(sql<number>`(excluded.updated_at - trajectories.started_at) / 1000.0`)
                .else(eb.ref('trajectories.seconds'))
                .end(),
              // Forbidden once is forbidden.
              train: eb('trajectories.train', '*', eb.ref('excluded.train')),
              agent: eb.fn.coalesce('trajectories.agent', 'excluded.agent'),
              subject: eb.fn.coalesce('trajectories.subject', 'excluded.subject'),
            }
          })
          .where('trajectories.head', 'is not', null)
          .whereRef('trajectories.tenant', '=', 'excluded.tenant')
          .where((eb) => {
            const known = eb.selectFrom('trajectory_parts as known').select('known.call').where('known.call', '=', call)
            return eb.not(eb.exists(known))
          }),
      ),
)

/** Keeps whom a call is about where an earlier one of its trajectory was about another. */
const putSubject = compiledWrite<{ readonly id: string; readonly subject: string }>((db, { id, subject }) =>
  db
    .insertInto('further_subjects')
    .columns(['subject', 'trajectory'])
    .expression((eb) =>
      eb
        .selectFrom('trajectories')
        .select((select) => [select.val(subject).as('subject'), 'id'])
        .where('id', '=', id)
        .where('subject', '<>', subject),
    )
    .onConflict((c) => c.doNothing()),
)

/** Not where it was erased meanwhile: looked up in the same statement, since every call pays for it. */
const insertPart = compiledWrite<Insertable<Tables['trajectory_parts']> & ErasableCall>(
  (db, { call, trajectory, payload, at, within, about, startedAt }) =>
    db
      .insertInto('trajectory_parts')
      .columns(['call', 'trajectory', 'payload', 'at'])
      .expression(
        db
          .selectNoFrom((select) => [
            select.val(call).as('call'),
            select.val(trajectory).as('trajectory'),
            select.val(payload).as('payload'),
            select.val(at).as('at'),
          ])
          .where((where) => {
            const erased = where
              .selectFrom('erasures')
              .select('what')
              .where('what', 'in', [within, about])
              .where('erasures.at', '>=', startedAt)
            return where.not(where.exists(erased))
          }),
      )
      .onConflict((c) => c.column('call').doNothing()),
)

const insertTurn = compiledWrite<Insertable<Tables['produced_turns']>>((db, row) =>
  db.insertInto('produced_turns').values(row),
)

/** The latest request with an identity is the one that is known by it. */
const putIdentity = compiledWrite<Insertable<Tables['request_identities']>>((db, row) =>
  db
    .insertInto('request_identities')
    .values(row)
    .onConflict((c) =>
      c.columns(['tenant', 'api_key', 'identity']).doUpdateSet((eb) => ({
        body: eb.ref('excluded.body'),
        trajectory: eb.ref('excluded.trajectory'),
        call: eb.ref('excluded.call'),
        at: eb.ref('excluded.at'),
      })),
    ),
)

const deletePending = compiledWrite<{ readonly call: string }>((db, { call }) =>
  db.deleteFrom('pending_calls').where('call', '=', call),
)

/**
 * Whether what is known of a call is its half answer, and this is the whole one.
 * @throws RecordConflictError when neither that nor the same is known.
 */
async function isHalfOf(db: Kysely<Tables>, { payload: { call, trajectory, payload } }: CallRows): Promise<boolean> {
  const stored = await db
    .selectFrom('trajectory_parts')
    .select(['trajectory', 'payload'])
    .where('call', '=', call)
    .executeTakeFirst()
  if (!stored) throw new RecordConflictError(`trajectory ${trajectory}`)
  const what = nameOf(call, stored.trajectory)
  const known = parseRecord(TrajectoryPart, unpacked(fromJson(stored.payload, what)), what)
  const part = parseRecord(TrajectoryPart, unpacked(fromJson(payload, what)), what)
  const half = known.stopReason === 'interrupted' && part.stopReason !== 'interrupted'
  if (half && stored.trajectory === trajectory) return true
  assertSame({ trajectory: stored.trajectory, part: known }, { trajectory, part }, `call ${call}`)
  return false
}

const nameOfHead = ({ id }: TrafficHead) => `trajectory ${id}`

function nameOf(call: string, trajectory: string): string {
  return `call ${call} of trajectory ${trajectory}`
}
