import type { Signal, Trajectory } from '../core/index.ts'

/** One term of a rubric: a number, or `null` where the evidence is missing. Pure. */
export interface RewardPart {
  /** Everything that decides its output, for the rubric's hash. */
  readonly identity: string
  /**
   * Parts that are evidence stand in for each other: where one is silent (`null`), those that speak decide. What people and
   * systems `told` beats what is only `guessed` from behaviour: a guess counts where nobody told anything. A part without
   * it is needed: where it is `null`, the reward is missing.
   */
  readonly evidence?: 'told' | 'guessed'
  /** The name of a choice whose options it charges for; its own scores are at most 0. */
  readonly charges?: string
  /** @param asOf milliseconds since the epoch; the trajectory and the signals hold nothing later. */
  score(trajectory: Trajectory, signals: readonly Signal[], asOf: number): Promise<number | null> | number | null
}
