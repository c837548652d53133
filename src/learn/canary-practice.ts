import type { z } from 'zod'
import { type Canary, seedOf, type Store, type Tenant, type Trajectory } from '../core/index.ts'
import { type Clarity, clearByPractice, type ReporterLimits, ReporterShares } from '../reward/index.ts'
import { unlessUnreadable } from './source/traffic/pages.ts'

/** Sessions that a candidate's questions are compared with, at most. */
const mostPractised = 500
/** Among so many of the last that began before the canary they are drawn. */
const drawnAmong = 10_000
/** So many are read, at most, where most are of who has had their share. */
const mostRead = 2_000

interface PracticeParts {
  readonly store: Pick<Store, 'trajectories'>
  readonly tenant: Tenant
  /** How far back before the canary's start, in milliseconds. */
  readonly historyMs: number
  /** How many of them one reporter may bring. */
  readonly reporters: z.input<typeof ReporterLimits>
}

/**
 * How clear tasks are, by how what serves did like ones before a canary began. Its sessions began before, and are read as
 * they were then: what goes on since changes neither which they are nor what they show, whenever a process reads them. They
 * are drawn by their ids, so that nobody brings most of them by coming last; and nobody brings more than their share. Where
 * nothing was recorded before, tasks are judged by their wording.
 */
export async function practiceBefore(
  { store, tenant, historyMs, reporters }: PracticeParts,
  { id, agent, startedAt }: Pick<Canary, 'id' | 'agent' | 'startedAt'>,
): Promise<Clarity> {
  const found = await store.trajectories.summaries({
    origin: 'traffic',
    tenant,
    agent: agent.startsWith(`${tenant}/`) ? agent.slice(tenant.length + 1) : agent,
    began: { after: { startedAt: startedAt - historyMs, id: '' }, until: startedAt, latestFirst: true },
    limit: drawnAmong,
  })
  const lots = found
    .filter((session) => session.train && session.startedAt < startedAt)
    .map((session) => ({ session: session.id, lot: seedOf('practice', id, session.id) }))
    .toSorted((a, b) => a.lot - b.lot)
  const shares = new ReporterShares(reporters)
  const sessions: Trajectory[] = []
  let read = 0
  for (const { session } of lots) {
    if (sessions.length === mostPractised || read === mostRead) break
    // One that cannot be read any more stops no canary.
    const trajectory = (await store.trajectories.get(session, startedAt).catch(unlessUnreadable))?.trajectory
    // One whose first call had not ended had shown nothing.
    if (!trajectory) continue
    read++
    if (isOfCandidate(trajectory) || shares.take({ trajectory, signals: [] }) === null) continue
    sessions.push(trajectory)
  }
  return clearByPractice(sessions, { name: `before canary ${id}` })
}

function isOfCandidate({ origin }: Trajectory): boolean {
  return origin.kind === 'traffic' && origin.servedBy?.canary?.arm === 'candidate'
}
