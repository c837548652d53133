// Proof point 1: what every release can do on fresh questions of people who never asked the gateway, beside a control that
// serves the first release throughout.
import { join } from 'node:path'
import { agentKey, defaultTenant } from 'ratchet/core'
import { pairedInterval, wilson } from 'ratchet/gate'
import { chatUpstream } from 'ratchet/model'
import { openStore } from 'ratchet/store'
import { measure } from './measure.mjs'
import { agentName } from './serve.mjs'

const agent = agentKey(defaultTenant, agentName)

/**
 * Measures every release of a store but the agent as it was before it learned. The gateway must have stopped.
 * @returns `{ releases, canaries }`: the releases, oldest first, `{ id, at, right, n, interval, gain }`, with the paired
 * difference to the first and its interval; and what the canaries were.
 */
export async function progress({ folder, service, world, tasks, toolsVersion = 1 }) {
  const store = await openStore({ path: join(folder, 'ratchet.db'), readonly: true })
  const upstream = chatUpstream({ name: 'measure', service, adapterBytes: (hash) => store.blobs.get(hash) })
  try {
    const releases = []
    let control = null
    const learned = (await store.releases.list({ agent, limit: 100 }))
      .toReversed()
      .filter(({ receipt }) => receipt !== null)
    for (const { id, versions, createdAt } of learned) {
      const { value } = await store.versions.get(versions.model)
      const scores = await measure({ upstream, world, weights: value, tasks, toolsVersion })
      control ??= scores
      const right = scores.reduce((sum, score) => sum + score, 0)
      const differences = scores.map((score, i) => score - control[i])
      const [low, high] = wilson(right, scores.length, 0.95)
      const difference = differences.reduce((sum, one) => sum + one, 0) / differences.length
      const gain = { difference, interval: control === scores ? [0, 0] : pairedInterval(differences, 1, 0.95) }
      releases.push({ id, at: createdAt, right, n: scores.length, interval: [low, high], gain })
    }
    return { releases, canaries: await canariesOf(store) }
  } finally {
    await upstream.close()
    await store.close()
  }
}

/** What became of every canary, oldest first. */
async function canariesOf(store) {
  const canaries = (await store.canaries.list({ agent, limit: 100 })).toReversed()
  return Promise.all(
    canaries.map(async ({ id, status, reason, startedAt, endedAt }) => {
      const last = (await store.canaries.events(id)).at(-1)
      return { id, status, reason, startedAt, endedAt, evidence: last?.evidence ?? {} }
    }),
  )
}
