import { z } from 'zod'
import type { ModelCall, NodeId, Signal, StopReason, Trajectory, Usage } from '../../core/index.ts'
import { brokenCalls, type Clarity, inaction, noAnswer, questionsBack } from '../guards/index.ts'
import { estimatedTokens, tokenCountOf } from '../guards/overlong.ts'
import { implicitReporter, implicitSignals } from '../implicit/index.ts'
import { ownTurns, upTo } from '../turns.ts'

/**
 * What a session is watched by beside its reward; of all, higher is worse.
 * - `brokenCalls`: 0 or 1: whether it holds calls that cannot be read.
 * - `questionsBack`: 0 or 1: whether it asks back although its task is clear.
 * - `inaction`: 0 or 1: whether it says that it acts and calls no tool for it, or ends a turn without a visible word.
 * - `errors`: 0 or 1: whether a call of it failed, whatever its code: the answer broke off, was cut by a budget or came to
 *   nothing, or the client had to send the request again. Not that the client left. An outage of the upstream hits both
 *   arms alike; what one arm has more of is its own.
 * - `toolErrors`: 0 or 1: whether a tool that it called answered with an error.
 * - `askedAgain`: 0 or 1: whether its person came back in another session before it was judged, and asked the same again:
 *   told by a signal `asked-again` that the gateway itself derives; 0 where nobody knows the person.
 * - `tokens`: sampled tokens of the whole session, from 0; what nobody counted is estimated at 4 characters each.
 * - `seconds`: seconds that all its calls took together, from 0.
 * - `cost`: of all its calls, in prompt tokens, from 0: see {@link TokenPrices}. Estimated at 4 characters a token for calls
 *   of which the upstream tells no usage.
 */
export const GuardMetric = z.enum([
  'brokenCalls',
  'questionsBack',
  'inaction',
  'errors',
  'toolErrors',
  'askedAgain',
  'tokens',
  'seconds',
  'cost',
])
export type GuardMetric = z.infer<typeof GuardMetric>

/** How much worse a candidate's mean may be, in the metric's own unit, and the bounds that a session's value is cut to. */
export interface GuardTolerance {
  readonly tolerance: number
  readonly range: readonly [number, number]
}

/**
 * Tolerances for sessions of a few short answers. Agents that work for minutes need other ranges for `tokens`, `seconds` and
 * `cost`: a range far above what sessions show sees little, one below it is blind to what lies above.
 */
export const defaultGuardTolerances: Readonly<Record<GuardMetric, GuardTolerance>> = {
  brokenCalls: { tolerance: 0.01, range: [0, 1] },
  questionsBack: { tolerance: 0.02, range: [0, 1] },
  inaction: { tolerance: 0.02, range: [0, 1] },
  errors: { tolerance: 0, range: [0, 1] },
  toolErrors: { tolerance: 0.05, range: [0, 1] },
  askedAgain: { tolerance: 0.02, range: [0, 1] },
  tokens: { tolerance: 100, range: [0, 4_096] },
  seconds: { tolerance: 1, range: [0, 60] },
  cost: { tolerance: 500, range: [0, 32_768] },
}

/**
 * How much higher a candidate's may be as a share of what serves, of metrics whose scale is the agent's: there such a rise is
 * watched for, unless a tolerance in the metric's own unit is set.
 */
export const defaultGuardRises = { seconds: 0.5, cost: 0.5 } as const satisfies Partial<Record<GuardMetric, number>>

/** What tokens cost in relation to a prompt token that was not cached; most price lists are near the default. */
export interface TokenPrices {
  readonly cached: number
  readonly completion: number
}

export interface GuardMetricsOptions {
  /** How clear a task is, for `questionsBack`. Default: by its wording. */
  readonly clarity?: Clarity
  /** Default: a cached token a tenth of another, a sampled one four. */
  readonly prices?: TokenPrices
}

/** One number a metric. */
export type GuardMetrics = Readonly<Record<GuardMetric, number>>

/**
 * The {@link GuardMetric}s of one session. Every one is always there: a metric that policies could make disappear would
 * guard nothing.
 * @param signals only their `tool-error` is read, what the operator's systems report of tools, beside what results say; and
 * `asked-again`, which nobody can report.
 * @param asOf milliseconds since the epoch; what happened later is not seen. Default: all is.
 */
export function guardMetrics(
  session: Trajectory,
  signals: readonly Signal[] = [],
  asOf: number = Number.MAX_SAFE_INTEGER,
  { clarity, prices = { cached: 0.1, completion: 4 } }: GuardMetricsOptions = {},
): GuardMetrics {
  const trajectory = upTo(session, asOf)
  const vetoed = (guard: { inspect(of: Trajectory): string | null }) => (guard.inspect(trajectory) === null ? 0 : 1)
  const silent = trajectory.origin.kind === 'traffic' ? vetoed(noAnswer()) : 0
  return {
    brokenCalls: vetoed(brokenCalls()),
    questionsBack: vetoed(questionsBack(clarity ? { clarity } : {})),
    inaction: Math.max(silent, vetoed(inaction())),
    errors: failed(trajectory) ? 1 : 0,
    toolErrors: toolFailed(trajectory, signals, asOf) ? 1 : 0,
    askedAgain: cameBack(signals, asOf) ? 1 : 0,
    tokens: sampledIn(trajectory),
    seconds: secondsOf(trajectory),
    cost: costOf(trajectory, prices),
  }
}

const notFailed: ReadonlySet<StopReason> = new Set(['done', 'cancelled', 'straggler'])

function failed({ stopReason, steps }: Trajectory): boolean {
  return !notFailed.has(stopReason) || steps.some(({ call }) => call !== undefined && callFailed(call))
}

function callFailed({ finish, cancelled, retryOf }: ModelCall): boolean {
  return finish === 'length' || (finish === null && cancelled !== true) || retryOf !== null
}

/** Name of the signal that a person asked the same again in another session. */
export const askedAgainSignal = 'asked-again'

function cameBack(signals: readonly Signal[], asOf: number): boolean {
  return signals.some(
    ({ name, reporter, at }) => name === askedAgainSignal && reporter === implicitReporter && at <= asOf,
  )
}

function toolFailed(trajectory: Trajectory, signals: readonly Signal[], asOf: number): boolean {
  const told = signals.some(({ name, source, at }) => name === 'tool-error' && source === 'outcome' && at <= asOf)
  const seen = trajectory.nodes.some(({ message }) => message.role === 'tool' && message.isError === true)
  return told || seen || implicitSignals(trajectory, asOf, { kinds: ['tool-error'] }).length > 0
}

/** By call: the upstream's own count where it tells one, since it counts thoughts that nobody sees. */
function sampledIn(trajectory: Trajectory): number {
  const perCall = new Map<string, { counted: number; told: number }>()
  for (const turn of ownTurns(trajectory)) {
    const id = turn.call?.id ?? turn.node.id
    const known = perCall.get(id) ?? { counted: 0, told: 0 }
    known.counted += tokenCountOf(turn)
    known.told += turn.call?.usage?.completionTokens ?? 0
    perCall.set(id, known)
  }
  return [...perCall.values()].reduce((sum, { counted, told }) => sum + (told > 0 ? told : counted), 0)
}

function secondsOf(trajectory: Trajectory): number {
  const calls = new Map(trajectory.steps.flatMap(({ call }) => (call ? [[call.id, call.totalMs]] : [])))
  if (calls.size === 0) return trajectory.seconds
  return [...calls.values()].reduce((sum, ms) => sum + ms, 0) / 1000
}

/** By call: its prompt once, however many answers it has. */
function costOf(trajectory: Trajectory, { cached, completion }: TokenPrices): number {
  const read = tokensBefore(trajectory)
  const calls = new Map<string, { told: number | null; prompt: number; sampled: number }>()
  for (const turn of ownTurns(trajectory)) {
    const id = turn.call?.id ?? turn.node.id
    const known = calls.get(id) ?? { told: null, prompt: read.get(turn.node.parent) ?? 0, sampled: 0 }
    known.sampled += tokenCountOf(turn)
    if (turn.call?.usage) known.told = (known.told ?? 0) + costTold(turn.call.usage, cached, completion)
    calls.set(id, known)
  }
  return [...calls.values()].reduce(
    (sum, { told, prompt, sampled }) => sum + (told ?? prompt + completion * sampled),
    0,
  )
}

function costTold({ promptTokens, completionTokens, cachedTokens }: Usage, cached: number, completion: number): number {
  const fromCache = Math.min(promptTokens, cachedTokens ?? 0)
  return promptTokens - fromCache + cached * fromCache + completion * completionTokens
}

/** About how many tokens a prompt has that ends with a node. */
function tokensBefore({ nodes }: Trajectory): ReadonlyMap<NodeId | null, number> {
  const totals = new Map<NodeId | null, number>()
  for (const { id, parent, message } of nodes) {
    totals.set(id, (totals.get(parent) ?? 0) + estimatedTokens(message))
  }
  return totals
}
