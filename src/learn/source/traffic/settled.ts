import type { Repositories, Trajectory, TrajectoryId } from '../../../core/index.ts'
import type { TrafficSource } from '../../source.ts'
import type { DropReason } from './evidence-report.ts'
import { pagesOf } from './pages.ts'
import type { UsedSince } from './used.ts'

/** Settled trajectories of a source, oldest first, and how many were left out. */
export interface Settled {
  readonly seen: number
  readonly trajectories: readonly Trajectory[]
  readonly dropped: ReadonlyMap<DropReason, number>
}

/** When a trajectory was last added to, in milliseconds since the epoch. */
export const endOf = ({ startedAt, seconds }: Pick<Trajectory, 'startedAt' | 'seconds'>): number =>
  startedAt + seconds * 1000

/** Why a trajectory may not be learned from now, whatever is in it; `null` when it may. */
export function notYet(
  { id, origin, task, startedAt, seconds }: Trajectory,
  { settle }: Pick<TrafficSource, 'settle'>,
  asOf: number,
  used: ReadonlySet<TrajectoryId>,
): DropReason | null {
  if (origin.kind !== 'traffic' || !origin.train) return 'train-forbidden'
  if (task.split === 'holdout') return 'held-out'
  if (endOf({ startedAt, seconds }) > asOf - settle) return 'unsettled'
  return used.has(id) ? 'used' : null
}

/**
 * Reads what may be learned from. Of more than the source's limit, the newest: of sessions that are fresh, and as many of
 * others, in which people may have shown something. So no crowd of those, of a canary's candidate for example, crowds out
 * what a policy gradient can learn from.
 * @param isFresh whether the weights that serve decided in a trajectory, beside what else serves.
 */
export async function settledOf(
  { trajectories: stored }: Pick<Repositories, 'trajectories'>,
  source: TrafficSource,
  asOf: number,
  usedSince: UsedSince,
  isFresh: (trajectory: Trajectory) => Promise<boolean>,
): Promise<Settled> {
  const dropped = new Map<DropReason, number>()
  const drop = (reason: DropReason) => dropped.set(reason, (dropped.get(reason) ?? 0) + 1)
  const fresh: Found[] = []
  const others: Found[] = []
  const { agent, tenant, window } = source
  let seen = 0
  let earliest = asOf - window
  let used = await usedSince(earliest)
  for await (const records of pagesOf(stored, { origin: 'traffic', agent, tenant, since: asOf - window })) {
    const began = Math.min(...records.map((trajectory) => trajectory?.startedAt ?? Number.POSITIVE_INFINITY))
    if (began < earliest) {
      earliest = began
      used = await usedSince(earliest)
    }
    for (const trajectory of records) {
      seen++
      if (trajectory === null) {
        drop('corrupt-record')
        continue
      }
      const reason = notYet(trajectory, source, asOf, used)
      if (reason) drop(reason)
      else {
        const found = (await isFresh(trajectory)) ? fresh : others
        found.push({ trajectory, place: seen })
        if (found.length > source.limit) {
          found.shift()
          drop('over-limit')
        }
      }
    }
  }
  const inOrder = [...fresh, ...others].toSorted((a, b) => a.place - b.place)
  return { seen, trajectories: inOrder.map(({ trajectory }) => trajectory), dropped }
}

/** A trajectory, and its place among those that were seen. */
interface Found {
  readonly trajectory: Trajectory
  readonly place: number
}
