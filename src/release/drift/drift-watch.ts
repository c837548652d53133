import { z } from 'zod'
import type { Alert } from '../../core/index.ts'
import { type Drift, DriftState, type DriftStream, NOTHING_SEEN, watchFor } from './drift-detector.ts'
import { featuresOf, NO_TASKS, noveltyOf, TaskModel, withTask } from './task-model.ts'

export const DriftConfig = z.strictObject({
  /** Mean number of sessions between false alarms of one stream, at least; there are four streams. */
  sessionsBetweenFalseAlarms: z.number().min(1).default(10_000),
  /** Sessions from which it is learned what the usual tasks are, before strange ones can be told. */
  usualTasks: z.int().positive().default(100),
  /** Rewards are told apart to this. */
  rewardResolution: z.number().positive().default(0.001),
  /** Decides ties; equal seeds repeat equal alarms. */
  seed: z.int().default(0),
})
export type DriftConfig = z.infer<typeof DriftConfig>

/** All that a watch remembers: JSON. */
export const DriftWatchState = z.strictObject({
  reward: DriftState,
  /** Sessions with a reward until rewards begin anew, as another release serves; `null`: they go on. */
  rewardsAnewIn: z.int().positive().nullable(),
  toolErrors: DriftState,
  vetoes: DriftState,
  taskMix: DriftState,
  tasks: TaskModel,
})
export type DriftWatchState = z.infer<typeof DriftWatchState>

/** A watch that has seen nothing. */
export const NEW_WATCH: DriftWatchState = {
  reward: NOTHING_SEEN,
  rewardsAnewIn: null,
  toolErrors: NOTHING_SEEN,
  vetoes: NOTHING_SEEN,
  taskMix: NOTHING_SEEN,
  tasks: NO_TASKS,
}

/** What a watch reads of one judged session. */
export interface WatchedSession {
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  /** `null` when the evidence is missing: the session then says nothing of rewards. */
  readonly reward: number | null
  /** Whether a guard of the rubric vetoed it. */
  readonly vetoed: boolean
  /** Results that its tools gave, and how many of them told of a failure. */
  readonly toolResults: number
  readonly toolErrors: number
  readonly instruction: string
  /** Names of the tools that it came with. */
  readonly tools: readonly string[]
}

/** What an alert says of a drift; the store adds whose it is. */
export type DriftAlert = Pick<Alert, 'kind' | 'name' | 'message' | 'evidence' | 'at'>

/**
 * Takes one session to the four streams: `reward` (a drop), `tool-errors` (a rise of the share of a session's tool
 * results that tell of a failure), `vetoes` (a rise of the share of sessions that a guard vetoes, whichever does) and
 * `task-mix` (a rise of how strange tasks are to the usual ones). Pure.
 *
 * The task mix compares with a model of the first `usualTasks` sessions, which then stays as it is, so that later tasks
 * are exchangeable as long as nothing changes; after an alarm it is learned anew. Give sessions of one agent, in the order
 * in which they began, and say when another release begins to serve ({@link anotherRelease}).
 *
 * False alarms: {@link watchFor}.
 */
export function watchSession(
  config: DriftConfig,
  state: DriftWatchState,
  session: WatchedSession,
): { readonly state: DriftWatchState; readonly alerts: readonly DriftAlert[] } {
  const { sessionsBetweenFalseAlarms, seed, rewardResolution } = config
  const common = { sessionsBetweenFalseAlarms, seed }
  const { at, reward: earned, toolResults } = session
  const reward = step(
    { ...common, name: 'reward', direction: 'drop', resolution: rewardResolution },
    state.reward,
    earned,
    at,
  )
  const toolErrors = step(
    { ...common, name: 'tool-errors', direction: 'rise', resolution: 0.001 },
    state.toolErrors,
    toolResults === 0 ? null : session.toolErrors / toolResults,
    at,
  )
  const vetoes = step(
    { ...common, name: 'vetoes', direction: 'rise', resolution: 1 },
    state.vetoes,
    Number(session.vetoed),
    at,
  )
  const features = featuresOf(session.instruction, session.tools)
  const learning = state.tasks.tasks < config.usualTasks
  const taskMix = step(
    { ...common, name: 'task-mix', direction: 'rise', resolution: 0.01 },
    state.taskMix,
    learning ? null : noveltyOf(state.tasks, features),
    at,
  )
  const tasks = learning && features.length > 0 ? withTask(state.tasks, features) : state.tasks
  return {
    state: {
      ...rewardsOf(state, reward, earned !== null),
      toolErrors: toolErrors.state,
      vetoes: vetoes.state,
      taskMix: taskMix.state,
      tasks: taskMix.drift ? NO_TASKS : tasks,
    },
    alerts: [reward, toolErrors, vetoes, taskMix].flatMap(({ drift }) => (drift ? [alertOf(drift, config)] : [])),
  }
}

/** Sessions with a reward that another release is compared with the one before. */
const overlap = 100

/**
 * Another release serves. What the one before earned is no reference for it in the long run, but it should not earn less:
 * its first {@link overlap} rewards are watched for a drop beside those before, so that a world that changes with a release
 * is seen as well; then rewards begin anew. Where it earns more, a false alarm is only rarer.
 */
export function anotherRelease(state: DriftWatchState): DriftWatchState {
  return { ...state, rewardsAnewIn: overlap }
}

/** The rewards' part of the state after a session; after an alarm they have begun anew by themselves. */
function rewardsOf(
  { rewardsAnewIn: left }: DriftWatchState,
  { state, drift }: ReturnType<typeof watchFor>,
  isEarned: boolean,
): Pick<DriftWatchState, 'reward' | 'rewardsAnewIn'> {
  if (left === null || drift) return { reward: state, rewardsAnewIn: null }
  if (!isEarned) return { reward: state, rewardsAnewIn: left }
  return left > 1
    ? { reward: state, rewardsAnewIn: left - 1 }
    : { reward: { ...NOTHING_SEEN, seen: state.seen }, rewardsAnewIn: null }
}

function step(stream: DriftStream, state: DriftState, value: number | null, at: number) {
  return value === null ? { state, drift: null } : watchFor(stream, state, value, at)
}

/** What changed, in words. */
const CHANGES: Readonly<Record<string, readonly [what: string, unit: string]>> = {
  reward: ['The reward fell', ''],
  'tool-errors': ['More of the tools’ results tell of failures', ''],
  vetoes: ['Guards veto more of the sessions', ''],
  'task-mix': ['The tasks are not the usual ones', ' nats a feature'],
}

function alertOf(drift: Drift, { sessionsBetweenFalseAlarms }: DriftConfig): DriftAlert {
  const { name, direction, reference, recent, since, at } = drift
  const [what, unit] = CHANGES[name] ?? [`${name} changed`, '']
  const number = (value: number) => `${value.toPrecision(3)}${unit}`
  const before =
    reference.mean === null ? '' : `, after ${number(reference.mean)} over the ${reference.sessions} before`
  return {
    kind: name === 'vetoes' ? 'guard' : 'drift',
    name,
    message: `${what}: a mean of ${number(recent.mean)} over the ${recent.sessions} sessions since ${new Date(since).toISOString()}${before}.`,
    evidence: {
      direction,
      reference: { ...reference },
      recent: { ...recent },
      since,
      sessionsBetweenFalseAlarms,
    },
    at,
  }
}
