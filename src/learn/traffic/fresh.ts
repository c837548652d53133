import type { Store } from '../../core/index.ts'
import type { TrafficSource } from '../source.ts'
import { earlierBatches, usedBy } from './used.ts'

/** More runs than a window holds. */
const manyRuns = 1_000

/** Trajectories that are settled, may be learned from, and no run has learned from: up to the source's limit. */
export async function freshEpisodes(
  store: Pick<Store, 'trajectories' | 'runs' | 'blobs'>,
  source: TrafficSource,
  agent: string,
  now: number,
): Promise<number> {
  const { tenant, window, settle, limit } = source
  const batches = await earlierBatches(store, agent, { since: now - window, limit: manyRuns, except: null })
  const used = usedBy(batches)
  const listed = await store.trajectories.summaries({
    origin: 'traffic',
    agent: source.agent,
    tenant,
    since: now - window,
    before: now - settle,
    limit: limit + used.size,
  })
  return listed.filter(({ id, train }) => train && !used.has(id)).length
}
