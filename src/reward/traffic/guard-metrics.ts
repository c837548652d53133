import { z } from 'zod'
import { causedByPolicy, type Signal, type Trajectory } from '../../core/index.ts'
import { brokenCalls, type Clarity, inaction, noAnswer, questionsBack } from '../guards/index.ts'
import { tokensOf } from '../guards/overlong.ts'
import { implicitSignals } from '../implicit/index.ts'
import { ownTurns, upTo } from '../turns.ts'

/**
 * What a session is watched by beside its reward; of all, higher is worse.
 * - `brokenCalls`: 0 or 1: whether it holds calls that cannot be read.
 * - `questionsBack`: 0 or 1: whether it asks back although its task is clear.
 * - `inaction`: 0 or 1: whether it says that it acts and calls no tool for it, or ends a turn without a visible word.
 * - `errors`: 0 or 1: whether it ended in a way that weights can cause: a failure of the upstream (not one that it was
 *   unreachable, busy or asked wrongly), or a spent budget.
 * - `toolErrors`: 0 or 1: whether a tool that it called answered with an error.
 * - `tokens`: sampled tokens of the whole session, from 0; what nobody counted is estimated at 4 characters each.
 * - `seconds`: mean seconds of a call, from 0.
 * - `cost`: in prompt tokens, from 0: see {@link TokenPrices}; absent where the upstream tells no usage.
 */
export const GuardMetric = z.enum([
  'brokenCalls',
  'questionsBack',
  'inaction',
  'errors',
  'toolErrors',
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
  errors: { tolerance: 0.02, range: [0, 1] },
  toolErrors: { tolerance: 0.05, range: [0, 1] },
  tokens: { tolerance: 100, range: [0, 4_096] },
  seconds: { tolerance: 1, range: [0, 60] },
  cost: { tolerance: 500, range: [0, 32_768] },
}

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

/** One number a metric; the cost only where it is known. */
export type GuardMetrics = Readonly<Record<Exclude<GuardMetric, 'cost'>, number> & { cost?: number }>

/**
 * The {@link GuardMetric}s of one session. Every one but `cost` is always there: a metric that policies could make
 * disappear would guard nothing.
 * @param signals only their `tool-error` is read: what the operator's systems report of tools, beside what results say.
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
  const cost = costOf(trajectory, prices)
  return {
    brokenCalls: vetoed(brokenCalls()),
    questionsBack: vetoed(questionsBack(clarity ? { clarity } : {})),
    inaction: Math.max(silent, vetoed(inaction())),
    errors: failed(trajectory) ? 1 : 0,
    toolErrors: toolFailed(trajectory, signals, asOf) ? 1 : 0,
    tokens: sampledIn(trajectory),
    seconds: secondsOf(trajectory),
    ...(cost === null ? {} : { cost }),
  }
}

/** Failures of an upstream that no weights can cause: it is not there, has no room, or the request was wrong. */
const notOfWeights: ReadonlySet<string> = new Set([
  'model/upstream-unreachable',
  'model/upstream-busy',
  'model/upstream-queue-full',
  'model/upstream-refused',
  'model/upstream-own-key',
  'model/upstream-cancelled',
  'model/upstream-closed',
])

function failed({ stopReason, failure }: Trajectory): boolean {
  if (stopReason === 'model-error') return failure === null || !notOfWeights.has(failure.code)
  return stopReason !== 'done' && causedByPolicy(stopReason)
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
    known.counted += tokensOf(turn)
    known.told += turn.call?.usage?.completionTokens ?? 0
    perCall.set(id, known)
  }
  return [...perCall.values()].reduce((sum, { counted, told }) => sum + (told > 0 ? told : counted), 0)
}

function secondsOf(trajectory: Trajectory): number {
  const calls = new Map(ownTurns(trajectory).flatMap(({ call }) => (call ? [[call.id, call.totalMs]] : [])))
  if (calls.size === 0) return trajectory.seconds / Math.max(1, trajectory.steps.length)
  return [...calls.values()].reduce((sum, ms) => sum + ms, 0) / calls.size / 1000
}

function costOf(trajectory: Trajectory, { cached, completion }: TokenPrices): number | null {
  const told = trajectory.steps.flatMap(({ call }) => (call?.usage ? [call.usage] : []))
  if (told.length === 0) return null
  return told.reduce((sum, { promptTokens, completionTokens, cachedTokens }) => {
    const fromCache = Math.min(promptTokens, cachedTokens ?? 0)
    return sum + promptTokens - fromCache + cached * fromCache + completion * completionTokens
  }, 0)
}
