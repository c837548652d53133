import type { Group } from './group.ts'
import type { DecisionId, TrajectoryId } from './id.ts'
import type { Judge, StepJudge } from './reward.ts'
import type { Rng } from './rng.ts'
import type { Signal } from './signal.ts'

/** What one Decision is credited with. */
export interface Credit {
  readonly trajectory: TrajectoryId
  readonly decision: DecisionId
  /** How much better than expected it was, in the reward's unit; `null` when the evidence is missing. */
  readonly advantage: number | null
  /** What should have been different, in words. */
  readonly critique?: string
  /**
   * How useful what was recalled or chosen was, in the reward's unit, whatever others earned: where the estimator does not say,
   * what the episode earned.
   */
  readonly utility?: number
  /** How much lower it is for what options of the decision's choice cost in the whole episode. Default 0. */
  readonly charged?: number
  /** The least and the most that an episode can earn by its rubric. Default [0, 1]. */
  readonly range?: readonly [number, number]
  /** A guard vetoed its episode: it is no example of anything, whatever it earned. */
  readonly vetoed?: true
}

/** One decision of a trajectory, as a key of maps. */
export const creditKey = ({ trajectory, decision }: Pick<Credit, 'trajectory' | 'decision'>): string =>
  JSON.stringify([trajectory, decision])

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
  /** Decisions that their outcome was not built from; absent where the estimator does not ask. */
  readonly unused?: number
  /** Decisions without credit: what they led to is not known, or nothing can be compared with them. */
  readonly incomparable?: number
  /** Steps that no other attempt's step is like: credited by the outcome alone. */
  readonly loneSteps?: number
  /** Steps that nobody said good or bad of: credited by the outcome alone. */
  readonly unlabelledSteps?: number
  /** Decisions of which no later hint says anything. */
  readonly unhinted?: number
  /** Decisions whose weight is not known: credited as if it were 1. */
  readonly unweighted?: number
}

/** The Credits of a batch, and how many of its attempts carry none. */
export interface CreditResult {
  readonly credits: readonly Credit[]
  readonly counts: CreditCounts
}

/** What an estimator may look at beside the groups. */
export interface CreditContext {
  /** What was said of the trajectories up to `asOf`; one that nothing was said of is absent. */
  readonly signals: ReadonlyMap<TrajectoryId, readonly Signal[]>
  /** Asked for an opinion about an episode, where a caller gives one: `learn` does where its `models` name a `judge`. */
  readonly judge?: Judge
  /** Asked which Steps of an episode helped, where a caller gives one: as `judge`. */
  readonly stepJudge?: StepJudge
  /** Keyed by the run and its position: what is drawn repeats (invariant 12). */
  readonly rng: Rng
  /** Milliseconds since the epoch: what was said later is not seen. */
  readonly asOf: number
}

/** Works out which decision earned the score. One readable file per estimator. */
export interface CreditEstimator {
  readonly name: string
  /** Whether it reads when messages were recorded. Default: it does not, and rollouts leave it out. */
  readonly readsTimes?: true
  /** Pure but for the judge: equal groups and contexts give equal credits. */
  credit(groups: readonly Group[], context: CreditContext): Promise<CreditResult>
}
