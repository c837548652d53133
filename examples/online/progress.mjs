// Proof points 1 and 3: what every release can do on fresh questions, beside a control that serves the first release
// throughout, with the tools as they were and as they became; and what the gateway kept of how it came to that.
import { agentKey, defaultTenant } from 'ratchet-agents/core'
import { pairedInterval } from 'ratchet-agents/gate'
import { measuring, share } from './measure.mjs'
import { agentName } from './serve.mjs'

export const agent = agentKey(defaultTenant, agentName)

/**
 * Measures every release of a store but the agent as it was before it learned. The gateway must have stopped.
 * @param versions of the tools.
 * @returns `{ releases, canaries, alerts }`, oldest first; a release has `success` by version of the tools: `{ right, n,
 * interval, gain }`, with the paired difference to the first release and its interval.
 */
export function progress({ folder, service, world, tasks, versions }) {
  return measuring({ folder, service, world }, async (store, scores) => {
    const learned = (await store.releases.list({ agent, limit: 100 }))
      .toReversed()
      .filter(({ receipt }) => receipt !== null)
    const controls = new Map()
    const releases = []
    for (const { id, versions: serving, createdAt } of learned) {
      const success = {}
      for (const version of versions) {
        const these = await scores(serving.model, tasks, version)
        const control = controls.get(version) ?? these
        controls.set(version, control)
        success[version] = { ...share(these), gain: gainOver(these, control) }
      }
      releases.push({ id, at: createdAt, success })
    }
    return { releases, canaries: await canariesOf(store), alerts: await alertsOf(store) }
  })
}

function gainOver(scores, control) {
  const differences = scores.map((score, i) => score - control[i])
  const difference = differences.reduce((sum, one) => sum + one, 0) / differences.length
  return { difference, interval: scores === control ? [0, 0] : pairedInterval(differences, 1, 0.95) }
}

/** What became of every canary, oldest first, and of how many sessions of each arm its gate knew. */
export async function canariesOf(store) {
  const canaries = (await store.canaries.list({ agent, limit: 100 })).toReversed()
  return Promise.all(
    canaries.map(async ({ id, status, reason, startedAt, endedAt }) => {
      const last = (await store.canaries.events(id)).at(-1)
      return { id, status, reason, startedAt, endedAt, sessions: last?.evidence.sessions ?? null }
    }),
  )
}

const alertsOf = async (store) =>
  (await store.alerts.list({ agent, limit: 100 }))
    .toReversed()
    .map(({ at, kind, name, message, evidence }) => ({ at, kind, name, message, evidence }))
