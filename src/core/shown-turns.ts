import type { ScoredTrajectory } from './group.ts'
import type { Json } from './json.ts'
import type { Message } from './message.ts'
import { Demonstrated, EditedAnswer, type Signal } from './signal.ts'
import { pathTo, type Step, type Trajectory, type TrajectoryNode } from './trajectory.ts'

/** A trajectory with what it earned and what was said of it. */
export interface ReviewedTrajectory extends ScoredTrajectory {
  readonly signals: readonly Signal[]
}

/**
 * Whether everything on a branch was said to its end and can be shown as it was said. A trajectory that ended well may hold
 * answers that were cut off, filtered or given up on the way: its client asked again.
 */
export function isWhole(path: readonly TrajectoryNode[], steps: ReadonlyMap<string, Step>): boolean {
  return path.every(({ id, message }) => {
    if (message.role !== 'assistant') return true
    const call = steps.get(id)?.call
    const unreadable = (message.malformedCalls ?? []).some(({ text }) => !message.content.includes(text))
    return !unreadable && (call === undefined || call.finish === 'stop' || call.finish === 'tool_calls')
  })
}

/** The Steps of a trajectory, by the node that holds what was said in each. */
export const stepsByAction = ({ steps }: Trajectory) => new Map<string, Step>(steps.map((step) => [step.action, step]))

/** A turn of the model's, and what people showed to be better. */
export interface ShownTurn {
  readonly node: TrajectoryNode
  /** Whether it was shown from there on, or the answer's text was changed. */
  readonly by: 'demonstration' | 'edit'
  /** To the turn that it is about. */
  readonly path: readonly TrajectoryNode[]
  /** The conversation that it stands in. */
  readonly before: readonly Message[]
  readonly said: Message
  /** Ends with a message of the assistant's. */
  readonly better: readonly Message[]
}

/** What people showed or edited, with the conversation it stands in. The last word on a turn counts. */
export function shownTurns({
  trajectory,
  signals,
}: Pick<ReviewedTrajectory, 'trajectory' | 'signals'>): readonly ShownTurn[] {
  const byId = new Map(trajectory.nodes.map((node) => [node.id, node]))
  const latest = new Map<string, { readonly signal: Signal; readonly node: TrajectoryNode }>()
  for (const signal of signals) {
    const node = signal.node === null ? lastTurn(trajectory) : byId.get(signal.node)
    if (node?.message.role === 'assistant' && showsTurn(signal.value)) latest.set(node.id, { signal, node })
  }
  return [...latest.values()].flatMap(({ signal: { value }, node }) => {
    // An edit that changed nothing shows nothing.
    if (EditedAnswer.safeParse(value).data?.text === node.message.content) return []
    const path = pathTo(node, byId)
    const shown = Demonstrated.safeParse(value)
    const better: readonly Message[] = shown.success
      ? shown.data.messages
      : [{ role: 'assistant', content: EditedAnswer.parse(value).text }]
    const by = shown.success ? 'demonstration' : 'edit'
    return { node, by, path, before: path.slice(0, -1).map(messageOf), said: node.message, better }
  })
}

/**
 * Of what people showed, what may be learned. A demonstration counts whatever its trajectory earned: it stands in the place
 * of what was done. An edit stands on the turns before it, and shows nothing where the trajectory was vetoed, or where these
 * or the answer itself were broken.
 */
export function taughtTurns(one: Pick<ReviewedTrajectory, 'trajectory' | 'signals' | 'reward'>): readonly ShownTurn[] {
  const steps = stepsByAction(one.trajectory)
  return shownTurns(one).filter(
    ({ by, path }) => by === 'demonstration' || (one.reward.status !== 'vetoed' && isWhole(path, steps)),
  )
}

/**
 * Whether a value shows what an assistant should have said: it ends with the assistant's own words. Instructions are for
 * whoever writes the agent, not for who reports on it (invariant 10).
 */
function showsTurn(value: Json): boolean {
  const shown = Demonstrated.safeParse(value)
  if (!shown.success) return (EditedAnswer.safeParse(value).data?.text.trim() ?? '') !== ''
  const { messages } = shown.data
  return messages.at(-1)?.role === 'assistant' && messages.every(({ role }) => role !== 'system')
}

/** What was said last. */
export function lastTurn({ nodes, steps }: Trajectory): TrajectoryNode | undefined {
  const action = steps.at(-1)?.action
  return nodes.find(({ id }) => id === action)
}

const messageOf = ({ message }: TrajectoryNode): Message => message
