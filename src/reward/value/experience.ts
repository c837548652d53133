import {
  type AssistantMessage,
  type DemonstratedEpisode,
  type Message,
  type NodeId,
  pathTo,
  type ScoredTrajectory,
  type Trajectory,
  type TrajectoryNode,
} from '../../core/index.ts'
import { ownTurns } from '../turns.ts'

/** Something that was said, and what had been read when it was. */
export interface Move {
  /** Every message before it, from the first. */
  readonly read: readonly Message[]
  readonly said: AssistantMessage
  /** Its log-probability under the policy that said it, at temperature 1; `null` where nobody told. */
  readonly logprob: number | null
  /** What it earned at once, and with the last one the outcome; `null` where the environment could not tell. */
  readonly reward: number | null
}

/** One episode of any policy: an earlier release, another model, a person. */
export interface Experience {
  /** The task: all that was tried at one is learned from, or held out. */
  readonly subject: string
  /** In their order; at least one. */
  readonly moves: readonly Move[]
}

/**
 * What was said in an episode on the way to its outcome. Of a tree, that is the branch that the outcome was built from.
 * @param options `stepRewards`: what the environment said of single steps is `added` to the outcome (default), or `ignored`
 * where the reward counts it already.
 * @returns `null` where the reward is missing, where the policy said nothing, or where it is not known which branch it was.
 */
export function experience(
  { trajectory, reward }: ScoredTrajectory,
  { stepRewards = 'added' }: { readonly stepRewards?: 'added' | 'ignored' } = {},
): Experience | null {
  const path = pathToOutcome(trajectory)
  if (reward.status === 'missing' || path === null) return null
  const own = new Map(ownTurns(trajectory).map(({ node, message }) => [node.id, message]))
  const earned = new Map<NodeId, number | null>(trajectory.steps.map(({ action, reward: r = 0 }) => [action, r]))
  const moves = path.flatMap(({ id, spans }, i): Move[] => {
    const said = own.get(id)
    if (!said) return []
    const at = stepRewards === 'added' ? (earned.get(id) ?? (earned.has(id) ? null : 0)) : 0
    return [{ read: path.slice(0, i).map(({ message }) => message), said, logprob: logprobOf(spans), reward: at }]
  })
  return withOutcome(trajectory.task.id, moves, reward.value)
}

/**
 * What a demonstration shows, as an episode that earned `outcome`. Its mistakes are moves like the others.
 * @param subject names its task where it does not.
 * @returns `null` where it says nothing.
 */
export function shownExperience(
  { messages, task }: DemonstratedEpisode,
  outcome: number,
  subject: string = messages[0]?.content ?? '',
): Experience | null {
  const moves = messages.flatMap((said, i): Move[] =>
    said.role === 'assistant' ? [{ read: messages.slice(0, i), said, logprob: null, reward: 0 }] : [],
  )
  return withOutcome(task?.id ?? subject, moves, outcome)
}

function withOutcome(subject: string, moves: readonly Move[], outcome: number): Experience | null {
  const last = moves.at(-1)
  if (!last) return null
  return {
    subject,
    moves: [...moves.slice(0, -1), { ...last, reward: last.reward === null ? null : last.reward + outcome }],
  }
}

function pathToOutcome({ nodes, outcome }: Trajectory): readonly TrajectoryNode[] | null {
  const byId = new Map<string, TrajectoryNode>(nodes.map((node) => [node.id, node]))
  const parents = new Set(nodes.map(({ parent }) => parent))
  const leaves = nodes.filter(({ id }) => !parents.has(id))
  const ends = outcome
    ? outcome.inputs.flatMap((input) => (typeof input === 'string' ? (byId.get(input) ?? []) : []))
    : []
  const [end, other] = leaves.length > 1 ? ends : leaves
  return end && !other ? pathTo(end, byId) : null
}

/** Of what was sampled whole; other messages have none. */
function logprobOf(spans: TrajectoryNode['spans']): number | null {
  const sampled = spans.flatMap((span) => (span.kind === 'sampled' ? [span.logprobs] : []))
  return sampled.length === 0 ? null : sampled.flat().reduce((sum, one) => sum + one, 0)
}
