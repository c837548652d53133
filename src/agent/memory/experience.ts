import {
  branches,
  callInWords,
  causedByPolicy,
  type Decided,
  isUsers,
  type Message,
  subjectMark,
  toolCallsOf,
  type Trajectory,
  type TrajectoryId,
} from '../../core/index.ts'
import { clipped } from './clipped.ts'
import { type MemoryItem, memoryBounds } from './item.ts'
import type { MemoryMade, RecalledItem } from './made.ts'

/** One thing that was seen, and what was done then. */
export interface Deed {
  /** What came back before it; empty for nothing. */
  readonly seen: string
  readonly did: string
}

/** What one episode leaves for a memory: what was asked and done, what was recalled in it, and what came of it. */
export interface Experience {
  readonly trajectory: TrajectoryId
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  readonly origin: Trajectory['origin']['kind']
  /** The audience that a memory of it may reach. */
  readonly owner: MemoryItem['owner']
  readonly source: string
  /** Where it came from: its trajectory, and the person that it was about. */
  readonly derivedFrom: readonly string[]
  /** What was asked. */
  readonly cue: string
  /** What was done, as the program noted it or as the messages say. */
  readonly done: string
  readonly deeds: readonly Deed[]
  readonly recalled: readonly RecalledItem[]
  /** Whether it ended by what the agent did. A broken one is no example of anything. */
  readonly whole: boolean
  /** How much better it went than expected; `null` where that is not known. */
  readonly advantage: number | null
  /**
   * What it earned, where the credits say; `null` where they do not, and for what a guard vetoed: that is
   * an example of nothing, good or bad.
   */
  readonly earned: number | null
}

/** What one Version of a memory decided in a trajectory, as one experience; none, where it was never asked. */
export function experiences(decided: readonly Decided<MemoryMade>[], trajectory: Trajectory): readonly Experience[] {
  const recalls = decided.flatMap(({ made, credit }) => (made.did === 'recall' ? [{ made, credit }] : []))
  const [first] = recalls
  if (!first) return []
  const notes = decided.flatMap(({ made }) => (made.did === 'note' ? [made.text] : []))
  const deeds = deedsOf(trajectory)
  const done = notes.length > 0 ? notes.join('\n') : deeds.map(({ did }) => did).join('\n')
  return [
    {
      trajectory: trajectory.id,
      at: trajectory.startedAt,
      ...whence(trajectory),
      cue: clipped(first.made.query, memoryBounds.cueBytes),
      done: clipped(done, memoryBounds.textBytes),
      deeds,
      recalled: onceEach(recalls.flatMap(({ made }) => made.items)),
      whole: causedByPolicy(trajectory.stopReason) && trajectory.failure === null,
      advantage: first.credit.advantage,
      earned: first.credit.vetoed === true ? null : (first.credit.utility ?? null),
    },
  ]
}

type Whence = Pick<Experience, 'origin' | 'owner' | 'source' | 'derivedFrom'>

function whence({ id, origin, task }: Trajectory): Whence {
  if (origin.kind === 'rollout') {
    return { origin: 'rollout', owner: nobodys, source: `task:${task.id}`, derivedFrom: [id] }
  }
  const { tenant } = origin
  const subject = origin.kind === 'traffic' ? origin.subject : null
  const about = subject === null ? null : subjectMark(tenant, subject)
  return {
    origin: origin.kind,
    owner: { tenant, about },
    source: about ?? `session:${id}`,
    derivedFrom: about === null ? [id] : [id, about],
  }
}

const nobodys = { tenant: null, about: null }

/** An item that several recalls of an episode were about was drawn once, and counts once. */
function onceEach(items: readonly RecalledItem[]): readonly RecalledItem[] {
  const seen = new Map<string, RecalledItem>()
  for (const item of items) if (!seen.has(item.id)) seen.set(item.id, item)
  return [...seen.values()]
}

const mostDeeds = 30
const mostSeen = 400

/** What the policy did on the episode's last branch, step by step. What we put there ourselves is nothing that was seen. */
function deedsOf(trajectory: Trajectory): readonly Deed[] {
  const deeds: Deed[] = []
  let seen = ''
  for (const { message } of branches(trajectory).at(-1) ?? []) {
    if (message.role === 'assistant') {
      deeds.push({ seen: clipped(seen, mostSeen), did: saidIn(message) })
      seen = ''
    } else if (message.role === 'tool' || isUsers(message)) seen = message.content
  }
  return deeds.filter(({ did }) => did !== '').slice(-mostDeeds)
}

const saidIn = (message: Message): string =>
  [...(message.content === '' ? [] : [message.content]), ...toolCallsOf(message).map(callInWords)].join('\n')
