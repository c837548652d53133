import {
  type AssistantMessage,
  branches,
  causedByPolicy,
  isWhole,
  type Json,
  lastTurn,
  type Message,
  type ReviewedTrajectory,
  type ShownTurn,
  type Step,
  stepsByAction,
  taughtTurns,
  type Trajectory,
  type TrajectoryNode,
} from '../core/index.ts'
import { mayTrain } from './imported.ts'
import { flatten } from './tokens.ts'
import { toolsOn } from './tools.ts'

/**
 * Rows for other trainers, in the conversational dataset formats of TRL (`prompt`, `completion`; `prompt`, `chosen`,
 * `rejected`; `prompt`, `completion`, `reward`). Held-out trajectories and those that may not be learned from never become rows, and
 * nothing vetoed, broken or truncated becomes a positive one (invariants 5 and 6).
 */

/** A message in the form that chat templates of Hugging Face models read: a call's arguments are an object. */
export type RowMessage = Readonly<Record<string, Json>>

/** Why trajectories gave no row, counted. */
export type Skipped = Readonly<
  Record<'held-out' | 'not-to-train' | 'vetoed' | 'broken' | 'no-reward' | 'below' | 'nothing-to-learn', number>
>

/** Rows, and what was left out. */
export interface Rows<Row> {
  readonly rows: readonly Row[]
  readonly skipped: Skipped
}

export interface SftRow {
  /** Context, whatever it holds: trainers learn from the completion. */
  readonly prompt: readonly RowMessage[]
  readonly completion: readonly RowMessage[]
  readonly tools?: readonly Json[]
  readonly trajectory: string
}

export interface PreferenceRow {
  readonly prompt: readonly RowMessage[]
  readonly chosen: readonly RowMessage[]
  readonly rejected: readonly RowMessage[]
  readonly tools?: readonly Json[]
  readonly trajectory: string
}

export interface GroupRow {
  readonly prompt: readonly RowMessage[]
  readonly completion: readonly RowMessage[]
  readonly reward: number
  /** Attempts of equal group compete with each other. */
  readonly group: string
  readonly tools?: readonly Json[]
  /**
   * Exact tokens of the whole branch, where they are known: which were sampled, and the log-probabilities that those were
   * drawn with, where that is known of every one.
   */
  readonly token_ids?: readonly number[]
  readonly sampled_mask?: readonly boolean[]
  readonly logprobs?: readonly number[]
  readonly trajectory: string
}

type Reason = keyof Skipped
type Tally = { -readonly [R in Reason]: number }
const tally = (): Tally => ({
  'held-out': 0,
  'not-to-train': 0,
  vetoed: 0,
  broken: 0,
  'no-reward': 0,
  below: 0,
  'nothing-to-learn': 0,
})

/** Why a trajectory may serve no training at all. */
function barred({ task, origin }: Trajectory): Reason | null {
  if (task.split === 'holdout') return 'held-out'
  return mayTrain(origin) ? null : 'not-to-train'
}

/** Why a trajectory may not be a positive example. */
function notPositive({ trajectory, reward }: ReviewedTrajectory, least: number): Reason | null {
  if (reward.status === 'vetoed') return 'vetoed'
  if (trajectory.stopReason !== 'done') return 'broken'
  if (reward.status === 'missing') return 'no-reward'
  return reward.value < least ? 'below' : null
}

/**
 * What to imitate: what people demonstrated or edited ({@link taughtTurns}), and the turns of trajectories whose reward is at
 * least `least`, each in one row.
 */
export function sftRows(exported: Iterable<ReviewedTrajectory>, least: number): Rows<SftRow> {
  const rows: SftRow[] = []
  const skipped = tally()
  for (const one of exported) {
    const { trajectory } = one
    const bar = barred(trajectory)
    if (bar) {
      skipped[bar]++
      continue
    }
    const shown = taughtTurns(one)
    const refusal = notPositive(one, least)
    const steps = stepsByAction(trajectory)
    const said = refusal ? [] : branches(trajectory).filter((path) => path.at(-1)?.message.role === 'assistant')
    const whole = said.filter((path) => isWhole(path, steps))
    const done = new Set(shown.map(({ path }) => path.at(-1)?.id))
    const found = [...shown, ...whole.flatMap((path) => ownRuns(path, steps, done))]
    if (found.length === 0) skipped[refusal ?? (said.length > whole.length ? 'broken' : 'nothing-to-learn')]++
    for (const { path, before, better } of found) {
      rows.push({
        prompt: before.map(rowMessage),
        completion: better.map(rowMessage),
        ...toolsRow(path, trajectory, steps),
        trajectory: trajectory.id,
      })
    }
  }
  return { rows, skipped }
}

/**
 * The served model's own turns on a branch, with what came between them. A turn that is done, or that the client wrote
 * itself, is context.
 * @param done grows by the turns that are told.
 */
function ownRuns(
  path: readonly TrajectoryNode[],
  steps: ReadonlyMap<string, Step>,
  done: Set<string | undefined>,
): readonly Pick<ShownTurn, 'path' | 'before' | 'better'>[] {
  const runs: { first: number; last: number }[] = []
  let open: { first: number; last: number } | null = null
  for (const [i, { id, message }] of path.entries()) {
    if (message.role !== 'assistant') continue
    if (!steps.has(id) || done.has(id)) {
      open = null
      continue
    }
    done.add(id)
    if (open) open.last = i
    else runs.push((open = { first: i, last: i }))
  }
  return runs.map(({ first, last }) => ({
    path: path.slice(0, last + 1),
    before: path.slice(0, first).map(messageOf),
    better: path.slice(first, last + 1).map(messageOf),
  }))
}

/**
 * What is better than what: an edited or demonstrated turn over what the model said, and the best attempt of a group over
 * its worst, where their prompts are equal and their rewards at least `margin` apart. What is the same is no better.
 */
export function preferenceRows(exported: readonly ReviewedTrajectory[], margin: number): Rows<PreferenceRow> {
  const rows: PreferenceRow[] = []
  const skipped = tally()
  const groups = new Map<string, ReviewedTrajectory[]>()
  for (const one of exported) {
    const { trajectory } = one
    const bar = barred(trajectory)
    if (bar) {
      skipped[bar]++
      continue
    }
    const shown = taughtTurns(one)
    const steps = stepsByAction(trajectory)
    for (const { path, before, better, said } of shown) {
      const [chosen, rejected] = [better.map(rowMessage), [rowMessage(said)]]
      if (isSame(chosen, rejected)) continue
      rows.push({
        prompt: before.map(rowMessage),
        chosen,
        rejected,
        ...toolsRow(path, trajectory, steps),
        trajectory: trajectory.id,
      })
    }
    const key = JSON.stringify([trajectory.group, trajectory.task.id])
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
    if (one.reward.status === 'missing' && shown.length === 0) skipped['no-reward']++
  }
  for (const group of groups.values()) {
    const pair = bestAndWorst(group, margin)
    if (!pair) continue
    const [best, worst] = [samplePath(pair.best.trajectory), samplePath(pair.worst.trajectory)]
    if (!best || !worst || !isSame(best.prompt, worst.prompt) || isSame(best.completion, worst.completion)) continue
    rows.push({
      prompt: best.prompt,
      chosen: best.completion,
      rejected: worst.completion,
      ...toolsRow(best.nodes, pair.best.trajectory, best.steps),
      trajectory: pair.best.trajectory.id,
    })
  }
  return { rows, skipped }
}

/**
 * Attempts with their rewards and exact tokens. A vetoed attempt stays, at its floor; a missing reward leaves no row, nor
 * does an attempt that ended through no act of the policy (invariant 1), or one of a served model that was cut off.
 */
export function groupRows(exported: Iterable<ReviewedTrajectory>): Rows<GroupRow> {
  const rows: GroupRow[] = []
  const skipped = tally()
  for (const { trajectory, reward } of exported) {
    const path = samplePath(trajectory)
    const reason =
      barred(trajectory) ??
      (reward.status === 'missing' ? 'no-reward' : path === null ? 'nothing-to-learn' : path.whole ? null : 'broken')
    if (reason || !path || reward.status === 'missing') {
      skipped[reason ?? 'nothing-to-learn']++
      continue
    }
    rows.push({
      prompt: path.prompt,
      completion: path.completion,
      reward: reward.value,
      group: trajectory.group,
      ...toolsRow(path.nodes, trajectory, path.steps),
      ...tokensRow(path.nodes),
      trajectory: trajectory.id,
    })
  }
  return { rows, skipped }
}

const messageOf = ({ message }: TrajectoryNode): Message => message

const isSame = (a: readonly RowMessage[], b: readonly RowMessage[]) => JSON.stringify(a) === JSON.stringify(b)

function bestAndWorst(
  group: readonly ReviewedTrajectory[],
  margin: number,
): { best: ReviewedTrajectory; worst: ReviewedTrajectory } | null {
  const scored = group
    .flatMap((one) => (one.reward.status === 'missing' ? [] : [{ one, value: one.reward.value }]))
    .toSorted((a, b) => b.value - a.value)
  const best = scored.find(
    ({ one }) => notPositive(one, Number.NEGATIVE_INFINITY) === null && samplePath(one.trajectory)?.whole,
  )
  const worst = scored.findLast(({ one }) => causedByPolicy(one.trajectory.stopReason))
  return best && worst && best.value - worst.value >= margin && best.one !== worst.one
    ? { best: best.one, worst: worst.one }
    : null
}

/** The branch grown last, parted where the model first spoke. */
function samplePath(trajectory: Trajectory) {
  const spoke = new Set(trajectory.steps.map(({ action }) => action))
  const last = lastTurn(trajectory)
  const nodes = branches(trajectory).find((path) => path.some(({ id }) => id === last?.id))
  const first = nodes?.findIndex(({ id }) => spoke.has(id)) ?? -1
  if (!nodes || first < 0) return null
  const messages = nodes.map((node) => rowMessage(messageOf(node)))
  const steps = stepsByAction(trajectory)
  return {
    nodes,
    steps,
    prompt: messages.slice(0, first),
    completion: messages.slice(first),
    whole: causedByPolicy(trajectory.stopReason) && isWhole(nodes, steps),
  }
}

function tokensRow(nodes: readonly TrajectoryNode[]) {
  const flat = flatten(nodes.flatMap(({ spans }) => spans))
  const exact = nodes.every(
    ({ message, spans }) => message.role !== 'assistant' || spans.some(({ kind }) => kind === 'sampled'),
  )
  if (!exact || flat.ids.length === 0) return {}
  const { ids, mask, logprobs } = flat
  return { token_ids: ids, sampled_mask: mask, ...(logprobs ? { logprobs } : {}) }
}

function rowMessage(message: Message): RowMessage {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: message.content, ...(message.name === undefined ? {} : { name: message.name }) }
    case 'tool':
      return {
        role: 'tool',
        content: message.content,
        name: message.name,
        ...(message.toolCallId === undefined ? {} : { tool_call_id: message.toolCallId }),
      }
    case 'assistant':
      return assistantRow(message)
  }
}

function assistantRow({ content, toolCalls }: AssistantMessage): RowMessage {
  if (!toolCalls || toolCalls.length === 0) return { role: 'assistant', content }
  return {
    role: 'assistant',
    content,
    tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
      ...(id === undefined ? {} : { id }),
      type: 'function',
      function: { name, arguments: args },
    })),
  }
}

function toolsRow(...on: Parameters<typeof toolsOn>): { tools?: readonly Json[] } {
  const tools = toolsOn(...on)
  return tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: { ...tool } })) }
}
