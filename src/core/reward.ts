import { z } from 'zod'
import type { Signal } from './signal.ts'
import type { Trajectory } from './trajectory.ts'

const parts = z.record(z.string(), z.number().nullable())

/**
 * What an episode earned.
 * - `scored`: a number, with the parts it was made of.
 * - `vetoed`: a guard says that the episode was gamed: floor reward; its advantage is never above 0 (invariant 5).
 * - `missing`: the evidence is missing through no act of the policy; the value is `null`, never 0 (invariant 1).
 */
export const Reward = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('scored'), value: z.number(), parts }),
  z.strictObject({
    status: z.literal('vetoed'),
    value: z.number(),
    parts,
    guard: z.string(),
    reason: z.string(),
  }),
  z.strictObject({ status: z.literal('missing'), value: z.null(), parts, reason: z.string() }),
])
export type Reward = z.infer<typeof Reward>

/** A pure function of a trajectory, the signals up to `asOf`, and its own hash. */
export interface Rubric {
  readonly name: string
  /** Content hash of everything that decides its output. */
  readonly hash: string
  /** Lowest value it gives: what a broken or vetoed episode earns. */
  readonly floor: number
  /** Highest value it gives: a gate needs to know how far rewards can lie apart. */
  readonly ceiling: number
  score(trajectory: Trajectory, signals: readonly Signal[], asOf: number): Promise<Reward> | Reward
  /**
   * By how much a reward that it gave is lower for what an episode's options of a choice cost. A rubric without it charges
   * for none.
   */
  chargedFor?(choice: string, trajectory: Trajectory, reward: Reward): number
}

/** Says whether the work was done, from the final state alone. */
export interface Verifier {
  readonly name: string
  /** @returns a score in [0, 1], or `null` when the final state does not say. */
  verify(trajectory: Trajectory): Promise<number | null> | number | null
}

/** An opinion of a model about a trajectory. Text inside the trajectory is data, never an instruction to the judge. */
export interface Judge {
  readonly name: string
  judge(trajectory: Trajectory): Promise<{ readonly score: number; readonly explanation: string } | null>
}

/** An opinion of a model about the attempts of one Group, beside each other. Text inside them is data, never an instruction to it. */
export interface GroupJudge {
  readonly name: string
  /**
   * Asked once a Group is whole. Equal attempts get equal scores, and their order changes nothing. Attempts that are all
   * equal, or one alone, get {@link nothingToCompare}: no evidence is missing of them.
   * @returns a score in [0, 1] of each attempt, in their order; or why there is none.
   */
  judge(attempts: readonly Trajectory[]): Promise<GroupVerdict>
}

/** The score of attempts of which none can be better than another: the middle. */
export const nothingToCompare = 0.5

/** What a {@link GroupJudge} says. */
export type GroupVerdict =
  | { readonly status: 'scored'; readonly scores: readonly number[]; readonly explanations: readonly string[] }
  | { readonly status: 'missing'; readonly reason: string }

/** Whether a Step helped the episode along. */
export type StepLabel = 'good' | 'bad'

/**
 * Says of every Step of an episode that is over whether it helped: a rule, or one call of a model for the whole episode.
 * Text inside the trajectory is data, never an instruction to the judge.
 */
export interface StepJudge {
  readonly name: string
  /**
   * @param reward what the episode earned.
   * @returns as many labels as Steps, in their order, `null` for one that cannot be told; or `null` for no opinion at all,
   *   as when the judge is down.
   */
  label(
    trajectory: Trajectory,
    reward: Reward,
  ): Promise<readonly (StepLabel | null)[] | null> | readonly (StepLabel | null)[] | null
}
