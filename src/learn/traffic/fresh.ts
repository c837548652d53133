import type { Store } from '../../core/index.ts'
import type { TrafficSource } from '../source.ts'
import { earlierBatches, usedBy } from './used.ts'

/** More runs than a window holds. */
const manyRuns = 1_000

/**
 * Trajectories that have settled since the last run looked, may be learned from, and no run has learned from: up to the
 * source's limit. What an earlier run saw and left out is not counted again, though a later run may find it fit.
 */
export async function freshEpisodes(
  store: Pick<Store, 'trajectories' | 'runs' | 'blobs'>,
  source: TrafficSource,
  agent: string,
  now: number,
): Promise<number> {
  const { tenant, window, settle, limit } = source
  const earlier = (since: number) => earlierBatches(store, agent, { since, limit: manyRuns, except: null })
  const batches = await earlier(now - window)
  const used = usedBy(batches)
  const looked = Math.max(...batches.map(({ batch }) => batch.asOf), Number.NEGATIVE_INFINITY)
  const listed = await store.trajectories.summaries({
    origin: 'traffic',
    agent: source.agent,
    tenant,
    since: Math.max(now - window, looked - settle),
    before: now - settle,
    limit: limit + used.size,
  })
  const began = Math.min(...listed.map(({ startedAt }) => startedAt))
  const learned = began < now - window ? usedBy(await earlier(began)) : used
  return listed.filter(({ id, train }) => train && !learned.has(id)).length
}
