import type { z } from 'zod'
import {
  AlertId,
  agentKey,
  type Beginning,
  type Clock,
  contentHash,
  isRefusal,
  type Reward,
  type Rubric,
  type Signal,
  type Store,
  systemClock,
  type Tenant,
  type Trajectory,
  type TrajectorySummary,
} from '../core/index.ts'
import {
  type DriftAlert,
  type DriftConfig,
  NEW_WATCH,
  anotherRelease,
  type WatchedSession,
  watchSession,
} from '../release/index.ts'
import { implicitSignals, type ReporterLimits, ReporterShares } from '../reward/index.ts'

/** What watching an agent's sessions for drift takes. */
export interface DriftObserverParts {
  readonly store: Pick<Store, 'trajectories' | 'signals' | 'alerts'>
  /** The agent's name, as its clients give it, and whose it is. */
  readonly agent: string
  readonly tenant: Tenant
  readonly rubric: Rubric
  readonly config: DriftConfig
  /** How many of the latest sessions one reporter may decide: others of theirs are not watched. Default: any number. */
  readonly reporters?: z.input<typeof ReporterLimits>
  /** How long after it began a session is judged, in milliseconds: by what was known then. */
  readonly judgeAfterMs: number
  /** How far back a new observer looks, to learn what is usual. In milliseconds. */
  readonly historyMs: number
  readonly clock?: Clock
}

/** Of so many of the latest sessions a reporter may decide a share. */
const reportersAmong = 100

/** Sessions that are read at one look, at most: the next one reads on. */
const mostSessions = 10_000

/** Alerts that are looked through. */
const mostAlerts = 10_000

/**
 * Makes what shows an agent's sessions to the drift detectors when they are due, each once and in the order in which they
 * began, and puts what they find among the alerts. Those of a canary's candidate are left out: they say what it is like,
 * not what the world is. What is usual is kept in memory: an observer that is started anew learns it again from the
 * history, where each session is as it was when it was due. A drift that it finds there is told of unless one of its name
 * was since it began: so none is lost that came while nobody observed, and none repeated that began in the history.
 *
 * A session that cannot be scored counts as one without a reward, and the first of a look is its error at the end; one that
 * the store did not give is asked for again at the next look.
 */
export function driftObserver(parts: DriftObserverParts): () => Promise<void> {
  const { store, agent, tenant, config, judgeAfterMs, historyMs, clock = systemClock } = parts
  const key = agentKey(tenant, agent)
  let state = NEW_WATCH
  let release: string | null = null
  const shares = parts.reporters ? new ReporterShares(parts.reporters, undefined, reportersAmong) : null
  const began = clock.now()
  let last: Beginning = { startedAt: began - historyMs, id: '' }
  const untold: DriftAlert[] = []
  /** Before the next session is shown, and again where it failed: the session that they came of is counted once. */
  const tell = async () => {
    for (let alert = untold[0]; alert; alert = untold[0]) {
      const alertId = AlertId.parse(contentHash([key, alert.name, alert.at]).slice(0, 24))
      const isKnown = alert.at < began ? await wasTold(store.alerts, key, alert) : await store.alerts.get(alertId)
      if (!isKnown) await store.alerts.put({ ...alert, id: alertId, agent: key, run: null })
      untold.shift()
    }
  }
  const show = async ({ id, startedAt }: TrajectorySummary, onUnscored: (error: unknown) => void) => {
    const asOf = startedAt + judgeAfterMs
    const trajectory = (await store.trajectories.get(id, asOf))?.trajectory
    if (trajectory?.origin.kind !== 'traffic') return
    const { servedBy } = trajectory.origin
    if (servedBy?.canary?.arm === 'candidate') return
    if (servedBy && release !== null && servedBy.release !== release) state = anotherRelease(state)
    release = servedBy?.release ?? release
    const told = await store.signals.of(trajectory.id, tenant, asOf)
    const signals = told.filter(({ at }) => at <= asOf)
    const heard = shares ? shares.take({ trajectory, signals }) : { signals }
    if (!heard) return
    const seen = watchSession(config, state, await sessionOf(parts, trajectory, heard.signals, onUnscored))
    untold.push(...seen.alerts)
    state = seen.state
  }
  return async () => {
    const unscored: unknown[] = []
    await tell()
    const due = await store.trajectories.summaries({
      origin: 'traffic',
      agent,
      tenant,
      began: { after: last, until: clock.now() - judgeAfterMs },
      limit: mostSessions,
    })
    for (const one of due) {
      if (one.train) await show(one, (error) => unscored.push(error))
      last = one
      await tell()
    }
    if (unscored.length > 0) throw unscored[0]
  }
}

/** Whether a drift that is found in the history was told of since it began, be it of a session before or after. */
async function wasTold(
  alerts: Store['alerts'],
  agent: string,
  { kind, name, evidence, at }: DriftAlert,
): Promise<boolean> {
  const { since } = evidence
  const told = await alerts.list({
    agent,
    kind,
    since: typeof since === 'number' ? since : at,
    limit: mostAlerts,
  })
  return told.some((one) => one.name === name)
}

async function sessionOf(
  { rubric, judgeAfterMs }: DriftObserverParts,
  trajectory: Trajectory,
  signals: readonly Signal[],
  onUnscored: (error: unknown) => void,
): Promise<WatchedSession> {
  const asOf = trajectory.startedAt + judgeAfterMs
  const results = trajectory.nodes.filter(({ message }) => message.role === 'tool')
  const told = results.filter(({ message }) => isRefusal(message)).length
  const seen = implicitSignals(trajectory, asOf, { kinds: ['tool-error'] }).length
  let reward: Reward | null = null
  try {
    reward = await rubric.score(trajectory, signals, asOf)
  } catch (error) {
    onUnscored(error)
  }
  return {
    at: trajectory.startedAt,
    reward: reward?.value ?? null,
    vetoed: reward?.status === 'vetoed',
    toolResults: results.length,
    toolErrors: Math.min(results.length, Math.max(told, seen)),
    instruction: trajectory.task.instruction,
    tools: Object.values(trajectory.toolsets).flatMap((tools) => tools.map(({ name }) => name)),
  }
}
