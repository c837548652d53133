import type { Canary, Store, Tenant, Trajectory } from '../core/index.ts'
import { RatchetError } from '../errors/index.ts'
import { type Clarity, clearByPractice } from '../reward/index.ts'

/** Sessions that a candidate's questions are compared with, at most: the last ones before its canary began. */
const mostPractised = 500

interface PracticeParts {
  readonly store: Pick<Store, 'trajectories'>
  readonly tenant: Tenant
  /** How far back before the canary's start, in milliseconds. */
  readonly historyMs: number
}

/**
 * How clear tasks are, by how what serves did like ones before a canary began. Sessions are read as they
 * were when the canary began. A process reads them once; one that looks on later misses those that went on since. Where
 * nothing was recorded before, tasks are judged by their wording.
 */
export async function practiceBefore(
  { store, tenant, historyMs }: PracticeParts,
  { id, agent, startedAt }: Pick<Canary, 'id' | 'agent' | 'startedAt'>,
): Promise<Clarity> {
  const found = await store.trajectories.summaries({
    origin: 'traffic',
    tenant,
    agent: agent.startsWith(`${tenant}/`) ? agent.slice(tenant.length + 1) : agent,
    since: startedAt - historyMs,
    before: startedAt,
    limit: mostPractised,
  })
  const sessions: Trajectory[] = []
  for (const { id: session, train } of found) {
    const recorded = train ? await store.trajectories.get(session, startedAt).catch(unlessUnreadable) : null
    const { origin } = recorded?.trajectory ?? {}
    const arm = origin?.kind === 'traffic' ? origin.servedBy?.canary?.arm : undefined
    if (recorded && arm !== 'candidate') sessions.push(recorded.trajectory)
  }
  return clearByPractice(sessions, { name: `before canary ${id}` })
}

/** One that cannot be read any more stops no canary. */
function unlessUnreadable(error: unknown): null {
  if (RatchetError.is(error) && error.code === 'store/corrupt-record') return null
  throw error
}
