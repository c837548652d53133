import type { Credit, DecisionId, TrajectoryId } from '../core/index.ts'

/** What an estimator said of each Decision of each trajectory that it credited at all. */
export type Advantages = ReadonlyMap<TrajectoryId, ReadonlyMap<DecisionId, number | null>>

/** Credits by trajectory and Decision. */
export function advantagesOf(credits: readonly Credit[]): Advantages {
  const found = new Map<TrajectoryId, Map<DecisionId, number | null>>()
  for (const { trajectory, decision, advantage } of credits) {
    const own = found.get(trajectory) ?? new Map<DecisionId, number | null>()
    found.set(trajectory, own.set(decision, advantage))
  }
  return found
}
