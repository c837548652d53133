import {
  AlertId,
  agentKey,
  type Clock,
  contentHash,
  type Rubric,
  type Store,
  systemClock,
  type Tenant,
  type Trajectory,
} from '../core/index.ts'
import { type DriftConfig, NEW_WATCH, rewardsAnew, type WatchedSession, watchSession } from '../release/index.ts'
import { implicitSignals } from '../reward/index.ts'

/** What watching an agent's sessions for drift takes. */
export interface DriftObserverParts {
  readonly store: Pick<Store, 'trajectories' | 'signals' | 'alerts'>
  /** The agent's name, as its clients give it, and whose it is. */
  readonly agent: string
  readonly tenant: Tenant
  readonly rubric: Rubric
  readonly config: DriftConfig
  /** How long after it began a session is judged, in milliseconds: by what was known then. */
  readonly settleMs: number
  /** How far back a new observer looks, to learn what is usual. In milliseconds. */
  readonly historyMs: number
  readonly clock?: Clock
}

/** More sessions than are read at one look; the next one reads on. */
const mostAtOnce = 10_000

/**
 * Makes what shows an agent's settled sessions to the drift detectors, each once and in the order in which they began, and
 * puts what they find among the alerts. Sessions of a canary's candidate are left out: they say what it is like, not what
 * the world is. What is usual is kept in memory: an observer that is started anew learns it again from the history, and
 * what it finds there that is known already is written once.
 */
export function driftObserver(parts: DriftObserverParts): () => Promise<void> {
  const { store, agent, tenant, config, settleMs, historyMs, clock = systemClock } = parts
  const key = agentKey(tenant, agent)
  let state = NEW_WATCH
  let release: string | null = null
  let seenUntil = clock.now() - historyMs
  return async () => {
    const settled = clock.now() - settleMs
    const listed = await store.trajectories.summaries({
      origin: 'traffic',
      agent,
      tenant,
      since: seenUntil,
      limit: mostAtOnce,
    })
    const next = listed
      .filter(({ train, startedAt }) => train && startedAt > seenUntil && startedAt <= settled)
      .toSorted((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
    for (const { id } of next) {
      const trajectory = (await store.trajectories.get(id))?.trajectory
      if (trajectory?.origin.kind !== 'traffic') continue
      const { servedBy } = trajectory.origin
      if (servedBy?.canary?.arm === 'candidate') continue
      if (servedBy && release !== null && servedBy.release !== release) state = rewardsAnew(state)
      release = servedBy?.release ?? release
      const seen = watchSession(config, state, await sessionOf(parts, trajectory))
      state = seen.state
      for (const alert of seen.alerts) {
        const id = AlertId.parse(contentHash([key, alert.name, alert.at]).slice(0, 24))
        if (!(await store.alerts.get(id))) await store.alerts.put({ ...alert, id, agent: key, run: null })
      }
    }
    seenUntil = next.at(-1)?.startedAt ?? seenUntil
  }
}

async function sessionOf(
  { store, tenant, rubric, settleMs }: DriftObserverParts,
  trajectory: Trajectory,
): Promise<WatchedSession> {
  const asOf = trajectory.startedAt + settleMs
  const signals = (await store.signals.of(trajectory.id, tenant)).filter(({ at }) => at <= asOf)
  const results = trajectory.nodes.filter(({ message }) => message.role === 'tool')
  const told = results.filter(({ message }) => message.role === 'tool' && message.isError === true).length
  const seen = implicitSignals(trajectory, asOf, { kinds: ['tool-error'] }).length
  return {
    at: trajectory.startedAt,
    reward: (await rubric.score(trajectory, signals, asOf)).value,
    toolResults: results.length,
    toolErrors: Math.min(results.length, Math.max(told, seen)),
    instruction: trajectory.task.instruction,
    tools: Object.values(trajectory.toolsets).flatMap((tools) => tools.map(({ name }) => name)),
  }
}
