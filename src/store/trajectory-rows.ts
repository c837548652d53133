import type { Insertable, Kysely } from 'kysely'
import {
  defaultTenant,
  type Origin,
  type RecordedTrajectory,
  Reward,
  RunId,
  TrafficHead,
  Trajectory,
  TrajectoryPart,
} from '../core/index.ts'
import { CorruptRecordError } from './errors/index.ts'
import { unpacked } from './packed-spans.ts'
import { fromJson, parseRecord, toJson } from './record.ts'
import type { Tables } from './tables.ts'
import { assembleTrajectory } from './trajectory-parts.ts'

/** Trajectories whose parts are read by one query. */
const trajectoriesAtOnce = 64
/** Characters of an instruction that lists show. */
const shownInstruction = 200

/** The columns of a trajectory that is written whole. */
export function toRow({ trajectory, reward, run }: RecordedTrajectory): Insertable<Tables['trajectories']> {
  const { id, task, group, stopReason, startedAt, seconds } = trajectory
  return {
    id,
    run,
    task: task.id,
    task_group: group,
    split: task.split,
    tier: task.tier ?? null,
    stop_reason: stopReason,
    reward_status: reward.status,
    reward_value: reward.value,
    reward: toJson(reward, `reward of trajectory ${id}`),
    started_at: startedAt,
    seconds,
    ...originColumns(trajectory.origin),
    instruction: shown(task.instruction),
    updated_at: startedAt + seconds * 1000,
    head: null,
  }
}

type OriginColumn = 'origin' | 'tenant' | 'session' | 'agent' | 'subject' | 'train' | 'canary'

/** Where it comes from, as columns: what is asked for by value. */
export function originColumns(origin: Origin): Pick<Insertable<Tables['trajectories']>, OriginColumn> {
  const { kind } = origin
  const unnamed = { session: null, agent: null, subject: null, canary: null }
  switch (origin.kind) {
    case 'rollout':
      return { origin: kind, tenant: defaultTenant, ...unnamed, train: 1 }
    case 'import':
      return { origin: kind, tenant: origin.tenant, ...unnamed, train: 1 }
    case 'traffic': {
      const { tenant, session, agent, subject, train, servedBy } = origin
      const canary = servedBy?.canary?.id ?? null
      return { origin: kind, tenant, session, agent, subject, train: train ? 1 : 0, canary }
    }
  }
}

/** One line of an instruction, for lists. */
export function shown(instruction: string): string {
  // Cut before and after: white space may be most of it, and a character may be two units.
  const line = instruction
    .slice(0, 8 * shownInstruction)
    .replaceAll(/[\s\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
  if (line.length <= shownInstruction) return line
  // Each character of most texts is one unit.
  if (!/[\ud800-\udfff]/.test(line)) return `${line.slice(0, shownInstruction - 1)}…`
  const characters = Array.from(line.slice(0, 2 * shownInstruction + 1))
  return characters.length <= shownInstruction ? line : `${characters.slice(0, shownInstruction - 1).join('')}…`
}

/** What {@link toRecorded} needs of a trajectory: its columns, and its payload when it was written whole. */
export function recordedRows(db: Kysely<Tables>) {
  return db
    .selectFrom('trajectories')
    .leftJoin('trajectory_payloads', 'trajectory_payloads.trajectory', 'trajectories.id')
    .select([
      'trajectories.id',
      'trajectories.run',
      'trajectories.reward',
      'trajectories.agent',
      'trajectories.subject',
      'trajectories.train',
      'trajectories.head',
      'trajectory_payloads.payload',
    ])
}
type RecordedRow = Awaited<ReturnType<ReturnType<typeof recordedRows>['execute']>>[number]

/**
 * The trajectories of these rows, in their order: those of traffic put together from their parts.
 * @param asOf only the parts of calls that had ended by then; traffic that has none is left out.
 * @throws CorruptRecordError
 */
export async function toRecorded(
  db: Kysely<Tables>,
  rows: readonly RecordedRow[],
  asOf?: number,
): Promise<readonly RecordedTrajectory[]> {
  const growing = rows.filter(({ head }) => head !== null).map(({ id }) => id)
  const parts = await partsOf(db, growing, asOf)
  const without = growing.filter((id) => !parts.has(id))
  const removed = asOf === undefined ? await removedSince(db, without) : new Set(without)
  return rows
    .filter(({ id }) => !removed.has(id))
    .map((row) => {
      const what = `trajectory ${row.id}`
      return {
        trajectory: row.head === null ? written(row, what) : grown(row, row.head, parts.get(row.id) ?? [], what),
        reward: parseRecord(Reward, fromJson(row.reward, what), `reward of ${what}`),
        run: parseRecord(RunId.nullable(), row.run, `run of ${what}`),
      }
    })
}

async function partsOf(
  db: Kysely<Tables>,
  ids: readonly string[],
  asOf: number | undefined,
): Promise<ReadonlyMap<string, TrajectoryPart[]>> {
  const parts = new Map<string, TrajectoryPart[]>()
  for (let start = 0; start < ids.length; start += trajectoriesAtOnce) {
    const rows = await db
      .selectFrom('trajectory_parts')
      .select(['call', 'trajectory', 'payload'])
      .where('trajectory', 'in', ids.slice(start, start + trajectoriesAtOnce))
      .$if(asOf !== undefined, (query) => query.where('at', '<=', asOf ?? 0))
      .orderBy('sequence')
      .execute()
    for (const { call, trajectory, payload } of rows) {
      const what = `call ${call} of trajectory ${trajectory}`
      const part = parseRecord(TrajectoryPart, unpacked(fromJson(payload, what)), what)
      const known = parts.get(trajectory)
      if (known) known.push(part)
      else parts.set(trajectory, [part])
    }
  }
  return parts
}

/** Rows and parts are two looks: whoever was removed between them is not damaged. */
async function removedSince(db: Kysely<Tables>, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom('trajectories').select('id').where('id', 'in', ids).execute()
  const there = new Set(rows.map(({ id }) => id))
  return new Set(ids.filter((id) => !there.has(id)))
}

function written({ payload }: RecordedRow, what: string): Trajectory {
  if (payload === null) throw new CorruptRecordError(what, 'its payload is missing.')
  return parseRecord(Trajectory, unpacked(fromJson(payload, what)), what)
}

/** Columns win over the head: they know what later calls said. */
function grown(row: RecordedRow, headJson: string, parts: readonly TrajectoryPart[], what: string): Trajectory {
  if (parts.length === 0) throw new CorruptRecordError(what, 'its calls are missing.')
  const head = parseRecord(TrafficHead, fromJson(headJson, what), what)
  const { agent, subject } = row
  return assembleTrajectory({ ...head, origin: { ...head.origin, agent, subject, train: row.train === 1 } }, parts)
}
