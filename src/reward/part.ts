import type { Signal, Trajectory } from '../core/index.ts'

/** One term of a rubric: a number, or `null` where the evidence is missing. Pure. */
export interface RewardPart {
  /** Everything that decides its output, for the rubric's hash. */
  readonly identity: string
  score(trajectory: Trajectory, signals: readonly Signal[]): Promise<number | null> | number | null
}
