import {
  defaultTenant,
  isUsers,
  type Signal,
  type Step,
  toolCallsOf,
  type Trajectory,
  type TrajectoryNode,
} from '../../core/index.ts'
import { allImplicitKinds, type ImplicitKind, implicitKinds } from './kinds.ts'
import { asksBack } from '../guards/words.ts'
import { editExtent, endsInQuestion, isEditOf, saysSomething, seen } from '../text/index.ts'
import { type Heard, isElicited, isNewTask, Reader } from './elicited.ts'
import { Said, answerText } from './said.ts'
import { asksAgain, asksForChange, reportsError, thanks } from './words.ts'

/** Which kinds are looked for, and when silence begins to speak. */
export interface ImplicitOptions {
  /** Default: all. */
  readonly kinds?: readonly ImplicitKind[]
  /** Nothing is `abandoned` before this many milliseconds have passed. Default 30 minutes. */
  readonly abandonedAfter?: number
}

/** One thing that a served model said, with what became of it. */
interface Turn {
  readonly node: TrajectoryNode
  readonly step: Step
  /** What a user who answers it heard. */
  readonly heard: () => Heard
  readonly children: readonly TrajectoryNode[]
  /** Whether the client went on from another answer to the same call (`n` > 1), or repeated a request that was lost. */
  readonly passedOver: boolean
  /** Other assistant turns after the same conversation; without a Step where the client's history brought them. */
  readonly siblings: readonly { readonly node: TrajectoryNode; readonly step: Step | null }[]
}

/** Who "reports" what behaviour lets guess. A client's reporters are kept as `<key>:<name>`, and never have this name. */
export const implicitReporter = 'implicit'

/**
 * Bounds of what is compared, so that a trajectory of any shape is read in the time of its length: other turns in one place,
 * after a turn and (calls may overtake each other) before it; copies of one turn; and edits of one trajectory.
 */
const mostAfter = 256
const mostBefore = 8
const mostCopies = 16
const mostEdits = 2_000

/**
 * What a traffic trajectory's shape and words tell of its turns: what was taken, changed, asked again or left. A pure
 * function of the trajectory and `asOf`, so these signals are derived when they are needed and never stored; each has a
 * key that is the same every time. They are guesses, told by `reporter: 'implicit'`, and weigh less than what anyone says.
 * @param asOf milliseconds since the epoch; what happened later is not seen.
 */
export function implicitSignals(
  trajectory: Trajectory,
  asOf: number,
  { kinds = allImplicitKinds, abandonedAfter = 30 * 60_000 }: ImplicitOptions = {},
): readonly Signal[] {
  const tenant = trajectory.origin.kind === 'rollout' ? defaultTenant : trajectory.origin.tenant
  const wanted = new Set(kinds)
  const edits = { left: mostEdits }
  const signals: Signal[] = []
  const reader = new Reader()
  for (const turn of turnsOf(trajectory, asOf, reader)) {
    for (const { kind, at, value } of readings(turn, { asOf, abandonedAfter, edits, reader })) {
      if (!wanted.has(kind) || at > asOf) continue
      signals.push({
        tenant,
        key: `${implicitReporter}/${trajectory.id}/${turn.node.id}/${kind}`.slice(0, 256),
        trajectory: trajectory.id,
        node: turn.node.id,
        source: kind === 'tool-error' ? 'outcome' : 'user',
        reporter: implicitReporter,
        name: kind,
        value: value ?? implicitKinds[kind].value,
        at,
      })
    }
  }
  return signals
}

function* turnsOf({ nodes, steps, origin }: Trajectory, asOf: number, reader: Reader): Generator<Turn> {
  const tree = new Said(nodes.filter(({ at }) => at === undefined || at <= asOf))
  const stepOf = new Map(steps.map((step) => [step.action, step]))
  const known = new Map<readonly TrajectoryNode[], readonly TrajectoryNode[]>()
  /** A client that sends a turn back under other tokens made a copy of it: what follows the copy follows the turn. */
  const copiesOf = (node: TrajectoryNode) => {
    const alike = tree.alike(node)
    const copies = known.get(alike) ?? alike.filter(({ id }) => !stepOf.has(id)).slice(0, mostCopies)
    known.set(alike, copies)
    return copies
  }
  const followed = (node: TrajectoryNode) => [node, ...copiesOf(node)].some((one) => tree.children(one).length > 0)
  const passedOver = callsPassedOver(steps, (id) => tree.node(id), followed)
  for (const step of steps) {
    const node = tree.node(step.action)
    // A deployed program makes no calls; in a rollout nobody is there who would behave.
    if (!node || (step.call === undefined && origin.kind !== 'traffic')) continue
    const copies = copiesOf(node)
    yield {
      node,
      step,
      heard: () => tree.heard(node, reader),
      children: [node, ...copies].flatMap((one) => tree.children(one)),
      passedOver: step.call !== undefined && passedOver.has(step.call.id),
      siblings: around(tree.inPlaceOf(node), node)
        .filter((other) => other.id !== node.id && other.message.role === 'assistant' && !copies.includes(other))
        .map((other) => ({ node: other, step: stepOf.get(other.id) ?? null })),
    }
  }
}

/** Calls of which one answer was gone on from, and those that were lost and sent again: silence after them is no silence. */
function callsPassedOver(
  steps: readonly Step[],
  nodeOf: (id: Step['action']) => TrajectoryNode | undefined,
  followed: (node: TrajectoryNode) => boolean,
): ReadonlySet<string> {
  const calls = new Set<string>()
  for (const { action, call } of steps) {
    const node = nodeOf(action)
    if (!node || call === undefined) continue
    if (followed(node)) calls.add(call.id)
    if (call.retryOf !== null) calls.add(call.retryOf)
  }
  return calls
}

function around(nodes: readonly TrajectoryNode[], node: TrajectoryNode): readonly TrajectoryNode[] {
  const at = nodes.indexOf(node)
  return nodes.slice(Math.max(0, at - mostBefore), at + 1 + mostAfter)
}

interface Reading {
  readonly kind: ImplicitKind
  readonly at: number
  /** Where it is not the kind's own. */
  readonly value?: number
}

interface Moment {
  readonly asOf: number
  readonly abandonedAfter: number
  readonly edits: { left: number }
  readonly reader: Reader
}

function readings(turn: Turn, { asOf, abandonedAfter, edits, reader }: Moment): readonly Reading[] {
  return [
    ...whatUsersSaid(turn, reader),
    ...whatToolsSaid(turn),
    ...whatElseWasTaken(turn, edits),
    ...silence(turn, asOf, abandonedAfter),
  ]
}

/**
 * One reading of the first user message after the turn: the strongest that fits. What speaks against the turn counts
 * whatever it asked. What speaks for it counts where the turn did not bring it about.
 */
function whatUsersSaid({ node, heard, children }: Turn, reader: Reader): readonly Reading[] {
  const next = children.find(({ message }) => isUsers(message))
  if (!next) return []
  const text = seen(next.message.content)
  const at = timeOf(next, node)
  if (asksForChange(text)) return [{ kind: 'change-request', at }]
  const before = heard()
  if (before.asked.some((asked) => asksAgain(asked, text))) return [{ kind: 'rephrased', at }]
  if (!saysSomething(answerText(node)) || isElicited(text, before, reader)) return []
  if (thanks(text)) return [{ kind: 'thanks', at }]
  return isNewTask(text, before, reader) ? [{ kind: 'accepted', at }] : []
}

function whatToolsSaid({ node, children }: Turn): readonly Reading[] {
  const failed = children.find(
    ({ message }) => message.role === 'tool' && (message.isError ?? reportsError(message.content)),
  )
  return failed ? [{ kind: 'tool-error', at: timeOf(failed, node) }] : []
}

/** Other assistant turns in this one's place: a later answer of ours (asked again), or the client's own text (edited). */
function whatElseWasTaken({ node, step, siblings }: Turn, edits: { left: number }): readonly Reading[] {
  const found: Reading[] = []
  const again = siblings.find(
    (other) =>
      other.step?.call !== undefined &&
      other.step.call.id !== step.call?.id &&
      // The client's SDK repeating a lost request is no opinion of anyone.
      other.step.call.retryOf !== step.call?.id &&
      other.step.call.startedAt > (step.call?.startedAt ?? 0),
  )
  if (again) found.push({ kind: 'retried', at: timeOf(again.node, node) })
  const [edit] = siblings
    .filter((other) => other.step === null && edits.left-- > 0)
    .filter((other) => isEditOf(node.message.content, other.node.message.content))
    .map((other) => ({
      at: timeOf(other.node, node),
      changed: editExtent(node.message.content, other.node.message.content),
    }))
    .filter(({ changed }) => changed > 0)
    .toSorted((a, b) => a.changed - b.changed)
  if (edit) found.push({ kind: 'edited', at: edit.at, value: -edit.changed })
  return found
}

function silence(turn: Turn, asOf: number, abandonedAfter: number): readonly Reading[] {
  const { node, step, children } = turn
  if (children.length > 0 || turn.passedOver) return []
  const since = timeOf(node, node)
  // An answer that its upstream or the gateway broke off says nothing of its user.
  if (step.call?.finish === null) return step.call.cancelled ? [{ kind: 'abandoned', at: since }] : []
  const { message } = node
  const calls = toolCallsOf(message)
  const expectsMore = calls.length > 0 || endsInQuestion(message.content) || asksBack(message.content) !== null
  const at = since + abandonedAfter
  return expectsMore && at <= asOf ? [{ kind: 'abandoned', at }] : []
}

function timeOf(node: TrajectoryNode, fallback: TrajectoryNode): number {
  return node.at ?? fallback.at ?? 0
}
