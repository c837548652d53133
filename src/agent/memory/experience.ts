import {
  branches,
  callInWords,
  type Decided,
  isUsers,
  type Message,
  toolCallsOf,
  type Trajectory,
  type TrajectoryNode,
} from '../../core/index.ts'
import { type Lived, lived } from '../lived.ts'
import { clipped, memoryQuery } from './clipped.ts'
import { memoryBounds } from './item.ts'
import type { MemoryMade, RecalledItem } from './made.ts'

/** One thing that was seen, and what was done then. */
export interface Deed {
  /** What came back before it; empty for nothing. */
  readonly seen: string
  readonly did: string
}

/** What one episode leaves for a memory: what was asked and done, what was recalled in it, and what came of it. */
export interface Experience extends Lived {
  /** What was asked. */
  readonly cue: string
  /** What was done, as the program noted it or as the messages say. */
  readonly done: string
  readonly deeds: readonly Deed[]
  readonly recalled: readonly RecalledItem[]
}

/** What one Version of a memory decided in a trajectory, as one experience; none, where it was never asked. */
export function experiences(decided: readonly Decided<MemoryMade>[], trajectory: Trajectory): readonly Experience[] {
  const recalls = decided.flatMap(({ made, credit }) => (made.did === 'recall' ? [{ made, credit }] : []))
  const [first] = recalls
  if (!first) return []
  const notes = decided.flatMap(({ made }) => (made.did === 'note' ? [made.text] : []))
  const deeds = deedsOf(trajectory, first.made.query)
  const done = notes.length > 0 ? notes.join('\n') : deeds.map(({ did }) => did).join('\n')
  return [
    {
      ...lived(trajectory, first.credit),
      cue: clipped(first.made.query, memoryBounds.cueBytes),
      done: clipped(done, memoryBounds.textBytes),
      deeds,
      recalled: onceEach(recalls.flatMap(({ made }) => made.items)),
    },
  ]
}

/** An item that several recalls of an episode were about counts once: as shown, where one of them showed it. */
function onceEach(items: readonly RecalledItem[]): readonly RecalledItem[] {
  const seen = new Map<string, RecalledItem>()
  for (const item of items) {
    const before = seen.get(item.id)
    if (!before || (item.shown && !before.shown)) seen.set(item.id, item)
  }
  return [...seen.values()]
}

const mostDeeds = 30
const mostSeen = 400

/**
 * What the policy did, step by step, on the last branch that begins with what was asked, or else on the last one: a session
 * may have conversations about other things beside. What we put there ourselves is nothing that was seen.
 */
function deedsOf(trajectory: Trajectory, asked: string): readonly Deed[] {
  const begins = (nodes: readonly TrajectoryNode[]) => {
    const first = nodes.find(({ message }) => isUsers(message))
    return first !== undefined && memoryQuery(first.message.content) === memoryQuery(asked)
  }
  const all = branches(trajectory)
  const branch = all.findLast(begins) ?? all.at(-1) ?? []
  const deeds: Deed[] = []
  let seen = ''
  for (const { message } of branch) {
    if (message.role === 'assistant') {
      deeds.push({ seen: clipped(seen, mostSeen), did: saidIn(message) })
      seen = ''
    } else if (message.role === 'tool' || isUsers(message)) seen = message.content
  }
  return deeds.filter(({ did }) => did !== '').slice(-mostDeeds)
}

const saidIn = (message: Message): string =>
  [...(message.content === '' ? [] : [message.content]), ...toolCallsOf(message).map(callInWords)].join('\n')
