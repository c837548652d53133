import {
  contentHash,
  GroupId,
  isUsers,
  type Json,
  type Message,
  NodeId,
  type Origin,
  type Reward,
  type Span,
  type Split,
  type Step,
  TaskId,
  type Tenant,
  type Trajectory,
  TrajectoryId,
  type TrajectoryNode,
} from '../core/index.ts'
import type { Imported } from './exchange.ts'

/** Where imported trajectories go, and what they may serve. */
export interface ImportOptions {
  readonly tenant: Tenant
  /** `holdout` until the user says otherwise: nothing is learned from records that nobody vouched for. */
  readonly split: Split
  /** For records that do not say when they were made, in milliseconds since the epoch. */
  readonly now: number
}

/** One message of another system's record, after it was read. */
export interface ImportedNode {
  /** Index of the message that it follows, before its own; `null` for a root. */
  readonly parent: number | null
  readonly message: Message
  readonly spans: readonly Span[]
  readonly at: number | null
  /** Whether a model said it: then it is the action of a Step. */
  readonly sampled: boolean
}

/** One record of another system, after it was read. */
export interface ImportedRecord {
  readonly format: string
  /** The record itself: what is equal is imported once. */
  readonly source: Json
  /** What it said beyond a trajectory. */
  readonly metadata: Record<string, Json>
  readonly taskId: string | null
  readonly nodes: readonly ImportedNode[]
  readonly stopReason: Trajectory['stopReason']
  readonly failure: Trajectory['failure']
  readonly reward: Reward
  /** False where a document of ours forbids learning from it: it is held out, whatever is asked for, and stays so. */
  readonly train: boolean
}

/** Whether a trajectory may be learned from, as far as who it is from has a say; of an import, whoever it was from. */
export function mayTrain(origin: Origin): boolean {
  if (origin.kind === 'traffic') return origin.train
  return origin.kind !== 'import' || origin.metadata['train'] !== false
}

/**
 * Why a record's episode ended, given how its answers did: an import keeps no calls, and an answer that was cut off or not
 * brought to its end, wherever it stands, must not be taken for whole.
 * @param told by the record.
 * @param finishes of its answers; `null` for one that did not come to an end.
 */
export function withFinishes(
  told: Trajectory['stopReason'],
  finishes: readonly (string | null)[],
): Trajectory['stopReason'] {
  if (told !== 'done' && told !== 'agent-error') return told
  if (finishes.includes('length')) return 'token-budget'
  return told === 'done' && finishes.some((finish) => finish === null || finish === 'content_filter')
    ? 'model-error'
    : told
}

/** Makes the trajectory of a record. Its id is the record's content: importing it again changes nothing. */
export function importedTrajectory(record: ImportedRecord, { tenant, split, now }: ImportOptions): Imported {
  const id = TrajectoryId.parse(`import_${contentHash([record.format, tenant, record.source]).slice(0, 32)}`)
  const startedAt = record.nodes.find(({ at }) => at !== null)?.at ?? now
  const nodes = record.nodes.map(({ parent, message, spans, at }, i): TrajectoryNode => {
    const node = { id: nodeId(i), parent: parent === null ? null : nodeId(parent), message, spans: [...spans] }
    return at === null ? node : { ...node, at }
  })
  const steps = record.nodes
    .flatMap(({ sampled }, i) => (sampled ? [i] : []))
    .map((node, index): Step => ({ index, action: nodeId(node), observations: [], decisions: [] }))
  const said = record.nodes.find(({ message }) => isUsers(message))?.message.content ?? ''
  return {
    trajectory: {
      id,
      origin: {
        kind: 'import',
        tenant,
        format: record.format,
        metadata: record.train ? record.metadata : { ...record.metadata, train: false },
      },
      task: {
        id: TaskId.parse((record.taskId || `import:${id}`).slice(0, 256)),
        instruction: said.slice(0, 2_000) || '(no instruction)',
        split: record.train ? split : 'holdout',
      },
      group: GroupId.parse(id),
      attempt: 0,
      seed: 0,
      nodes,
      steps,
      decisions: [],
      toolsets: {},
      stopReason: record.stopReason,
      failure: record.failure,
      finalState: null,
      startedAt,
      seconds: secondsOf(record.nodes),
    },
    reward: record.reward,
  }
}

/** From the first message to the last. */
function secondsOf(nodes: readonly ImportedNode[]): number {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { at } of nodes) {
    if (at === null) continue
    first = Math.min(first, at)
    last = Math.max(last, at)
  }
  return last > first ? (last - first) / 1_000 : 0
}

const nodeId = (index: number): NodeId => NodeId.parse(`n${index}`)
