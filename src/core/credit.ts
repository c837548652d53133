import type { Group } from './group.ts'
import type { DecisionId, TrajectoryId } from './id.ts'

/** What one Decision is credited with. */
export interface Credit {
  readonly trajectory: TrajectoryId
  readonly decision: DecisionId
  /** How much better than expected it was, in the reward's unit; `null` when the evidence is missing. */
  readonly advantage: number | null
  /** What should have been different, in words. */
  readonly critique?: string
  /** Estimated usefulness of what was recalled or chosen. */
  readonly utility?: number
}

/** Why attempts carry no credit: shown, never hidden (invariant 1). */
export interface CreditCounts {
  /** Attempts whose reward is missing. */
  readonly missing: number
  /** Groups whose rewards are all equal: they carry no signal. */
  readonly uniformGroups: number
  /** Groups with fewer than two rewards. */
  readonly singletonGroups: number
  /** Attempts vetoed by a guard. */
  readonly vetoed: number
}

/** The Credits of a batch, and how many of its attempts carry none. */
export interface CreditResult {
  readonly credits: readonly Credit[]
  readonly counts: CreditCounts
}

/** Works out which decision earned the score. One readable file per estimator. */
export interface CreditEstimator {
  readonly name: string
  credit(groups: readonly Group[]): CreditResult
}
