import {
  type Activation,
  type Canary,
  defaultTenant,
  isPaired,
  type Pin,
  type ReceiptId,
  type Release,
  type Repositories,
  type Tenant,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import { auditOf } from './audit/draw.ts'
import { runningCanary, shareOf } from './canary-record.ts'

/**
 * What a release rests on. `initial`: nothing, it is the agent before it learned. `held-out`: a comparison on held-out
 * tasks. `canary`: that, and a comparison on live sessions. `audited`: a sample of live sessions, judged by truth.
 * `behaviour-only`: what people did in live sessions, which an agent can learn to please.
 */
export type ReleaseEvidence = 'initial' | 'held-out' | 'canary' | 'audited' | 'behaviour-only'

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

type Standing = Pick<AgentOverview, 'agent' | 'activation' | 'pin' | 'canary'>
type StandingStore = Pick<Repositories, 'releases' | 'canaries'>
type Reading = StandingStore & Pick<Repositories, 'receipts'>

/** @returns `null` for an agent that has no releases. */
export async function overviewOf(store: Reading, agent: string, limit = 100): Promise<AgentOverview | null> {
  const standing = await standingOf(store, agent)
  if (!standing) return null
  const activations = await store.releases.activations(agent)
  const canaries = await store.canaries.list({ agent, limit: 10_000 })
  const known = new Map(canaries.map((canary) => [canary.receipt, canary]))
  const evidenceOf = ({ receipt }: Release): ReleaseEvidence | Promise<ReleaseEvidence> => {
    if (receipt === null) return 'initial'
    const canary = known.get(receipt)
    return canary ? kindOfCanary(canary) : kindOf(store, receipt)
  }
  const listed = (await store.releases.list({ agent, limit })).map(async (release) => ({
    release,
    evidence: await evidenceOf(release),
    serving: release.id === standing.activation.release,
    activation: activations.findLast((one) => one.release === release.id) ?? null,
  }))
  return { ...standing, releases: await Promise.all(listed) }
}

async function standingOf(store: StandingStore, agent: string): Promise<Standing | null> {
  const activation = await store.releases.current(agent)
  if (!activation) return null
  const running = await runningCanary(store, agent)
  return { agent, activation, pin: await store.releases.pinned(agent), canary: running && shownCanary(running) }
}

/** What a receipt says that a release rests on, where its canary is not among those that were read. */
async function kindOf({ receipts }: Pick<Repositories, 'receipts'>, id: ReceiptId): Promise<ReleaseEvidence> {
  const receipt = present(await receipts.get(id), `receipt ${id}`)
  return isPaired(receipt) ? 'held-out' : kindOfCanary(receipt)
}

function kindOfCanary({ gate, admission }: Pick<Canary, 'gate' | 'admission'>): ReleaseEvidence {
  const audit = auditOf({ gate })
  if (audit !== null) return audit.by === 'judge' ? 'behaviour-only' : 'audited'
  return admission === null ? 'behaviour-only' : 'canary'
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

/**
 * {@link stateOf} without an overview: reads only what stands now, however long the agent's history is.
 * @returns `null` for an agent that has no releases.
 */
export async function agentState(store: StandingStore, agent: string): Promise<AgentState | null> {
  const standing = await standingOf(store, agent)
  return standing && stateOf(standing)
}

export function stateOf({ agent, activation, pin, canary }: Standing): AgentState {
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
