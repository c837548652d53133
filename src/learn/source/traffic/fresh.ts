import type { ParameterName, Store, TrajectoryId } from '../../../core/index.ts'
import type { TrafficSource } from '../../source.ts'
import { lagsOf } from '../../../credit/index.ts'
import { present } from '../../../errors/index.ts'
import { earlierBatches, namedIn, usedBy } from './used.ts'

/**
 * Trajectories that have settled since the last run looked, may be learned from, and no run has learned from: up to the
 * source's limit. What an earlier run saw and left out is not counted again, though a later run may find it fit; nor is what
 * last changed before the release that serves began to, unless weights that served earlier may be learned from; nor sessions
 * of a candidate of whatever learns that never came to serve: for what else learns its context is another.
 * @param parameters that learn, of any Kind.
 */
export async function freshEpisodes(
  store: Pick<Store, 'trajectories' | 'runs' | 'blobs' | 'canaries' | 'releases'>,
  source: TrafficSource,
  agent: string,
  now: number,
  parameters: readonly ParameterName[] = ['model'],
): Promise<number> {
  const { tenant, window, settle, limit, maxLag } = source
  const earlier = (since: number) => earlierBatches(store, agent, { since, except: null })
  const used = new Set<TrajectoryId>()
  let looked = Number.NEGATIVE_INFINITY
  for await (const { batch } of earlier(now - window)) {
    looked = Math.max(looked, batch.asOf)
    for (const id of namedIn(batch)) used.add(id)
  }
  const serving = await store.releases.current(agent)
  const since = maxLag > 0 || serving === null || serving.reason === 'initial' ? 0 : serving.at
  const settled = {
    origin: 'traffic',
    agent: source.agent,
    tenant,
    since: Math.max(now - window, looked - settle, since),
    before: now - settle,
    limit: limit + used.size,
  } as const
  const listed = await store.trajectories.summaries(settled)
  const began = Math.min(...listed.map(({ startedAt }) => startedAt))
  const learned = began < now - window ? await usedBy(earlier(began)) : used
  const fresh = new Set(listed.flatMap(({ id, train }) => (train && !learned.has(id) ? [id] : [])))
  const canaries = (await store.canaries.list({ agent, limit: mostCanaries })).filter(
    ({ endedAt }) => (endedAt ?? now) >= now - window,
  )
  for (const parameter of parameters) {
    const tried = canaries.filter(({ candidate }) => candidate[parameter] !== undefined)
    if (tried.length === 0) continue
    const lags = await lagsOf(store, agent, parameter, maxLag)
    for (const { id: canary, candidate } of tried) {
      if (lags.has(present(candidate[parameter], 'what was tried'))) continue
      const sessions = await store.trajectories.summaries({ ...settled, canary, arm: 'candidate' })
      for (const { id } of sessions) fresh.delete(id)
    }
  }
  return fresh.size
}

/** Canaries that are looked through, at most: the newest. */
const mostCanaries = 100
