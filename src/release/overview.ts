import {
  type Activation,
  type Canary,
  defaultTenant,
  type Pin,
  type Release,
  type Repositories,
  type Tenant,
} from '../core/index.ts'
import { runningCanary, shareOf } from './canary-record.ts'

/**
 * What a release rests on. `initial`: nothing, it is the agent before it learned. `held-out`: a comparison on held-out
 * tasks. `canary`: that, and a comparison on live sessions. `canary-only`: live sessions alone.
 */
export type ReleaseEvidence = 'initial' | 'held-out' | 'canary' | 'canary-only'

/** A canary as it may be shown: without what keys its assignment. */
export type ShownCanary = Omit<Canary, 'salt'> & {
  /** Of the sessions, that get the candidate now. */
  readonly share: number
}

/** One release in a list. */
export interface ListedRelease {
  readonly release: Release
  readonly evidence: ReleaseEvidence
  readonly serving: boolean
  /** When it last came to serve; `null` for one that never did. */
  readonly activation: Activation | null
}

/** What serves an agent, and what did. */
export interface AgentOverview {
  readonly agent: string
  /** What serves now. */
  readonly activation: Activation
  readonly pin: Pin | null
  readonly canary: ShownCanary | null
  /** Newest first. */
  readonly releases: readonly ListedRelease[]
}

type Reading = Pick<Repositories, 'releases' | 'canaries'>

/** @returns `null` for an agent that has no releases. */
export async function overviewOf(store: Reading, agent: string, limit = 100): Promise<AgentOverview | null> {
  const activations = await store.releases.activations(agent)
  const activation = activations.at(-1)
  if (!activation) return null
  const canaries = await store.canaries.list({ agent, limit: 10_000 })
  const admissions = new Map(canaries.map(({ receipt, admission }) => [receipt, admission]))
  const evidenceOf = ({ receipt }: Release): ReleaseEvidence => {
    if (receipt === null) return 'initial'
    const admission = admissions.get(receipt)
    return admission === undefined ? 'held-out' : admission === null ? 'canary-only' : 'canary'
  }
  const running = await runningCanary(store, agent)
  return {
    agent,
    activation,
    pin: await store.releases.pinned(agent),
    canary: running && shownCanary(running),
    releases: (await store.releases.list({ agent, limit })).map((release) => ({
      release,
      evidence: evidenceOf(release),
      serving: release.id === activation.release,
      activation: activations.findLast((one) => one.release === release.id) ?? null,
    })),
  }
}

/** Every agent that has releases, by name. */
export async function agentNames({ releases }: Pick<Repositories, 'releases'>): Promise<readonly string[]> {
  return (await releases.serving()).map(({ agent }) => agent).toSorted()
}

/** What serves an agent, in short. */
export interface AgentState {
  readonly agent: string
  readonly serving: Release['id']
  readonly generation: number
  /** When it came to serve, in milliseconds since the epoch. */
  readonly since: number
  readonly pin: Pin | null
  readonly canary: ShownCanary | null
}

export function stateOf({ agent, activation, pin, canary }: AgentOverview): AgentState {
  const { release: serving, generation, at: since } = activation
  return { agent, serving, generation, since, pin, canary }
}

export function shownCanary(whole: Canary): ShownCanary {
  const { salt: _, ...canary } = whole
  const share = canary.status === 'running' ? shareOf(canary) : canary.status === 'promoted' ? 1 : 0
  return { ...canary, share }
}

/** The tenant's own name of an agent, from its {@link agentKey}; `null` for another tenant's agent. */
export function nameWithin(tenant: Tenant, key: string): string | null {
  const prefix = `${tenant}/`
  if (tenant === defaultTenant && !key.includes('/')) return key
  if (!key.startsWith(prefix)) return null
  const name = key.slice(prefix.length)
  return tenant !== defaultTenant || name.includes('/') ? name : null
}
