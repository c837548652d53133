import {
  groupBy,
  type NodeId,
  type Signal,
  type Step,
  type ToolDefinition,
  type Trajectory,
  type TrajectoryNode,
} from '../../core/index.ts'
import { headLines, type LineOptions, nodeLines, signalLine } from './lines.ts'
import { rewardLine } from './reward-line.ts'
import type { RewardNow } from './reward-now.ts'

/** Deeper nesting of branches is drawn without more indentation. */
const deepest = 24

/**
 * A trajectory as a person reads it in a terminal: a conversation runs down the page, and branches are indented where they
 * part. Then the signals about the whole, and the reward with its parts.
 * @param signals about it, those that nobody said and were derived included.
 */
export function trajectoryTree(
  { trajectory, earned }: { readonly trajectory: Trajectory; readonly earned: RewardNow },
  signals: readonly Signal[],
  options: LineOptions & { readonly now: number },
): string {
  const { nodes, steps, decisions, startedAt } = trajectory
  const known = new Set(nodes.map(({ id }) => id))
  const children = groupBy(nodes, ({ parent }) => (parent !== null && known.has(parent) ? parent : null))
  const about = groupBy(signals, ({ node }) => (node !== null && known.has(node) ? node : null))
  const stepOf = new Map(steps.map((step) => [step.action, step]))
  const decided = groupBy(decisions, ({ output }) => output)
  const superseded = supersededIn(trajectory)
  const lines = [...headLines(trajectory, options), '']

  const draw = ({ node, indent, marker, under }: Drawn) => {
    const facts = {
      step: stepOf.get(node.id),
      origin: trajectory.origin.kind,
      superseded: superseded.has(node.id),
      decisions: decided.get(node.id) ?? [],
      signals: about.get(node.id) ?? [],
      offered: offeredTo(trajectory, stepOf.get(node.id)),
    }
    const [first = '', ...rest] = nodeLines(node, facts, startedAt, options)
    lines.push(`${indent}${marker}${first}`, ...rest.map((line) => `${under}  ${line}`))
  }
  // A stack, not recursion: a conversation may be thousands of turns long.
  const open = branchesUnder(children, null, '').toReversed()
  for (let at = open.pop(); at; at = open.pop()) {
    draw(at)
    open.push(...branchesUnder(children, at.node.id, at.under).toReversed())
  }

  const whole = about.get(null) ?? []
  if (whole.length > 0) lines.push('', ...whole.map((signal) => signalLine(signal, startedAt)))
  lines.push('', rewardLine(earned))
  return `${lines.join('\n')}\n`
}

/**
 * Answers whose request the client sent again: what a repeated call gave, and what never came to its end beside an answer in
 * the same place that did.
 */
function supersededIn({ nodes, steps }: Trajectory): ReadonlySet<NodeId> {
  const repeated = new Set(steps.flatMap(({ call }) => (call?.retryOf ? [call.retryOf] : [])))
  const parentOf = new Map(nodes.map(({ id, parent }) => [id, parent]))
  const ended = new Set(steps.flatMap(({ action, call }) => (call?.finish ? [parentOf.get(action)] : [])))
  const isSuperseded = ({ action, call }: Step) =>
    call !== undefined && (repeated.has(call.id) || (call.finish === null && ended.has(parentOf.get(action))))
  return new Set(steps.filter(isSuperseded).map(({ action }) => action))
}

const offeredTo = ({ toolsets }: Trajectory, step: Step | undefined): readonly ToolDefinition[] =>
  (step?.call?.tools ? toolsets[step.call.tools] : undefined) ?? []

interface Drawn {
  readonly node: TrajectoryNode
  readonly indent: string
  readonly marker: string
  /** Where its own children are drawn. */
  readonly under: string
}

function branchesUnder(
  children: ReadonlyMap<NodeId | null, readonly TrajectoryNode[]>,
  parent: NodeId | null,
  indent: string,
): Drawn[] {
  const siblings = children.get(parent) ?? []
  if (siblings.length < 2) return siblings.map((node) => ({ node, indent, marker: '', under: indent }))
  const deep = indent.length >= deepest * 3
  return siblings.map((node, i) => {
    const last = i === siblings.length - 1
    return { node, indent, marker: last ? '└─ ' : '├─ ', under: deep ? indent : `${indent}${last ? '   ' : '│  '}` }
  })
}
