import type { Trajectory } from '../../core/index.ts'

/** Looks for a known way of gaming a reward. Its veto floors the episode, which stays in its group's baseline. */
export interface Guard {
  readonly name: string
  /** Everything that decides its verdict, for the rubric's hash. */
  readonly identity: string
  /**
   * Whether what it vetoes stays vetoed however the episode goes on. Then it speaks also of episodes that were cut from
   * outside: what the policy did before must not turn into a missing reward.
   */
  readonly lasting?: boolean
  /** @returns why the episode is vetoed, one sentence, or `null`. */
  inspect(trajectory: Trajectory): string | null
}
