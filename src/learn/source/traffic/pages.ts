import type { Repositories, Trajectory, TrajectoryFilter, TrajectoryId } from '../../../core/index.ts'
import { RatchetError } from '../../../errors/index.ts'

/** Trajectories of one page that the store is asked for. */
const page = 200

/**
 * What the store has of a filter, oldest first, page by page; `null` for a trajectory that cannot be read any more: one stops
 * no run. From the first such on each is read on its own, in the order in which they began.
 */
export async function* pagesOf(
  stored: Repositories['trajectories'],
  filter: TrajectoryFilter,
): AsyncGenerator<readonly (Trajectory | null)[]> {
  const known = new Set<TrajectoryId>()
  let last: TrajectoryId | undefined
  for (;;) {
    const after = last === undefined ? {} : { after: last }
    const records = await stored.list({ ...filter, limit: page, ...after }).catch(unlessUnreadable)
    if (!records) break
    for (const { trajectory } of records) known.add(trajectory.id)
    yield records.map(({ trajectory }) => trajectory)
    if (records.length < page) return
    last = records.at(-1)?.trajectory.id
  }
  yield* eachOf(stored, filter, known)
}

async function* eachOf(
  stored: Repositories['trajectories'],
  filter: TrajectoryFilter,
  known: ReadonlySet<TrajectoryId>,
): AsyncGenerator<readonly (Trajectory | null)[]> {
  let after = { startedAt: 0, id: '' }
  for (;;) {
    const next = await stored.summaries({ ...filter, began: { after, until: Number.MAX_SAFE_INTEGER }, limit: page })
    const found: (Trajectory | null)[] = []
    for (const { id } of next) {
      if (known.has(id)) continue
      const removed = { trajectory: undefined }
      const read = await stored.get(id).then((record) => record ?? removed, unlessUnreadable)
      const trajectory = read === null ? null : read.trajectory
      if (trajectory !== undefined) found.push(trajectory)
    }
    yield found
    const end = next.at(-1)
    if (next.length < page || !end) return
    after = end
  }
}

/** @returns `null` for what cannot be read any more. @throws every other error. */
export function unlessUnreadable(error: unknown): null {
  if (RatchetError.is(error) && error.code === 'store/corrupt-record') return null
  throw error
}
