import type { Alert, Store } from '../../core/index.ts'
import { runningCanary } from '../../release/index.ts'
import { fromTraffic } from '../run/source-of.ts'

/** When a learner begins a run. */
export interface DueOptions {
  readonly store: Pick<Store, 'runs' | 'alerts' | 'canaries' | 'releases'>
  /** What the agent's runs and releases go by. */
  readonly agent: string
  /** From the beginning of one run to that of the next, at least, in milliseconds. */
  readonly everyMs: number
  /** Fresh episodes that a run needs; and one that a drift alert opens. */
  readonly minEpisodes: number
  readonly minEpisodesOnDrift: number
  /** How long after a session an alert about it may come. */
  readonly alertLagMs: number
  /** Counts them. */
  readonly fresh: () => Promise<number>
  readonly now: number
}

/** Whether a run is due, why, and the drift alerts that it answers. */
export type Due =
  | { readonly due: true; readonly reason: string; readonly alerts: readonly Alert[] }
  | { readonly due: false; readonly reason: string }

/** Alerts that are looked at: an older one is answered by what was learned since. */
const latest = 20

/**
 * A run is due when enough fresh episodes are there and the last one began long enough ago; drift makes it due sooner and
 * with fewer. While a canary runs there is none: its candidate could not be tried; nor while what serves is pinned.
 */
export async function whetherDue(options: DueOptions): Promise<Due> {
  const { store, agent, everyMs, minEpisodes, minEpisodesOnDrift, alertLagMs, fresh, now } = options
  const canary = await runningCanary(store, agent)
  if (canary) return { due: false, reason: `canary ${canary.id} runs` }
  const pin = await store.releases.pinned(agent)
  if (pin) return { due: false, reason: `what serves is pinned: ${pin.reason}` }

  const last = (await store.runs.list({ agent, limit: 100 })).find(fromTraffic)
  const since = last?.startedAt ?? 0
  const drift = await store.alerts.list({ agent, kind: 'drift', limit: latest, since: since - alertLagMs })
  const alerts = drift.filter(({ run }) => run === null)
  if (alerts.length === 0 && now - since < everyMs) {
    return { due: false, reason: `the last run began less than ${lengthOf(everyMs)} ago` }
  }

  const episodes = await fresh()
  const needed = alerts.length > 0 ? minEpisodesOnDrift : minEpisodes
  if (episodes < needed) {
    const why = alerts.length > 0 ? ', drift or not' : ''
    return { due: false, reason: `${needed} fresh episodes are needed${why}` }
  }
  const reason = alerts[0] ? `drift: ${alerts[0].message}` : `${episodes} fresh episodes`
  return { due: true, reason, alerts }
}

const lengthOf = (ms: number) => (ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`)
