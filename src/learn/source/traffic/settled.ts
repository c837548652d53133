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

/** Which traffic is read, and as of when. */
export interface Window {
  readonly store: Pick<Repositories, 'trajectories'>
  readonly source: TrafficSource
  /** Milliseconds since the epoch: what was said later is not seen. */
  readonly asOf: number
  readonly usedSince: UsedSince
}

/**
 * Reads what may be learned from, once for all that learn. Of more than the source's limit, the newest: of sessions that are
 * fresh for one of them, and as many of others, in which people may have shown something. So no crowd of those, of a canary's
 * candidate for example, crowds out what it can learn from.
 * @param fresh of each that learns, whether its Versions that serve decided in a trajectory, beside what else serves.
 * @returns what each finds, in this order.
 */
export async function settledOf(
  { store, source, asOf, usedSince }: Window,
  fresh: readonly ((trajectory: Trajectory) => Promise<boolean>)[],
): Promise<readonly Settled[]> {
  const each = fresh.map((isFresh) => new Sorted(isFresh, source.limit))
  const { agent, tenant, window } = source
  let seen = 0
  let earliest = asOf - window
  let used = await usedSince(earliest)
  for await (const records of pagesOf(store.trajectories, { origin: 'traffic', agent, tenant, since: asOf - window })) {
    const began = Math.min(...records.map((trajectory) => trajectory?.startedAt ?? Number.POSITIVE_INFINITY))
    if (began < earliest) {
      earliest = began
      used = await usedSince(earliest)
    }
    for (const trajectory of records) {
      seen++
      const reason = trajectory === null ? 'corrupt-record' : notYet(trajectory, source, asOf, used)
      for (const sorted of each) {
        if (trajectory === null || reason) sorted.drop(reason ?? 'corrupt-record')
        else await sorted.add({ trajectory, place: seen })
      }
    }
  }
  return each.map((sorted) => ({ seen, trajectories: sorted.inOrder(), dropped: sorted.dropped }))
}

/** What one that learns finds. */
class Sorted {
  readonly dropped = new Map<DropReason, number>()
  readonly #fresh: Found[] = []
  readonly #others: Found[] = []
  readonly #isFresh: (trajectory: Trajectory) => Promise<boolean>
  readonly #limit: number

  constructor(isFresh: (trajectory: Trajectory) => Promise<boolean>, limit: number) {
    this.#isFresh = isFresh
    this.#limit = limit
  }

  drop(reason: DropReason): void {
    this.dropped.set(reason, (this.dropped.get(reason) ?? 0) + 1)
  }

  async add(one: Found): Promise<void> {
    const found = (await this.#isFresh(one.trajectory)) ? this.#fresh : this.#others
    found.push(one)
    if (found.length <= this.#limit) return
    found.shift()
    this.drop('over-limit')
  }

  inOrder(): readonly Trajectory[] {
    const all = [...this.#fresh, ...this.#others].toSorted((a, b) => a.place - b.place)
    return all.map(({ trajectory }) => trajectory)
  }
}

/** A trajectory, and its place among those that were seen. */
interface Found {
  readonly trajectory: Trajectory
  readonly place: number
}
