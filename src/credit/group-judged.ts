import {
  type CreditEstimator,
  type Group,
  type GroupJudge,
  type GroupVerdict,
  nothingToCompare,
  type Reward,
  type ScoredTrajectory,
} from '../core/index.ts'
import { readsTimesAs } from './reads-times.ts'

export interface GroupJudgedOptions {
  /** Scores the attempts of a whole Group beside each other, such as `ruler`. */
  readonly judge: GroupJudge
  /** Makes credit of what the rewards then are. */
  readonly outcome: CreditEstimator
  /** What the judge's score, in [0, 1], is multiplied by before it is added to the reward. Default 1. */
  readonly weight?: number
}

/**
 * Adds a relative judge's score to the rewards of a Group, once it is whole, and credits them: R′ = R + w·s. Where the judge
 * has no verdict the group's rewards are missing and counted so, never 0. Vetoed attempts are not shown to it and keep what
 * they earned; where only one is left, it is not asked, and s is the middle, 0.5. Gates read the rubric alone: a score beside others says nothing between Candidates.
 */
export function groupJudged({ judge, outcome, weight = 1 }: GroupJudgedOptions): CreditEstimator {
  return {
    name: `${outcome.name}+${judge.name}`,
    ...readsTimesAs(outcome),
    async credit(groups, context) {
      const judged: Group[] = []
      for (const group of groups)
        judged.push({ id: group.id, attempts: await withScores(group.attempts, judge, weight) })
      return outcome.credit(judged, context)
    },
  }
}

async function withScores(
  attempts: readonly ScoredTrajectory[],
  judge: GroupJudge,
  weight: number,
): Promise<readonly ScoredTrajectory[]> {
  const honest = attempts.filter(({ reward }) => reward.status === 'scored')
  if (honest.length === 0) return attempts
  const verdict: GroupVerdict =
    honest.length === 1
      ? { status: 'scored', scores: [nothingToCompare], explanations: [] }
      : await judge.judge(honest.map(({ trajectory }) => trajectory))
  const scores = verdict.status === 'scored' ? verdict.scores : []
  return attempts.map((attempt) => {
    if (attempt.reward.status !== 'scored') return attempt
    const score = scores[honest.indexOf(attempt)]
    const reason = verdict.status === 'missing' ? verdict.reason : 'the group judge gave no score'
    return { ...attempt, reward: added(attempt.reward, score === undefined ? null : weight * score, reason) }
  })
}

function added({ value, parts }: Extract<Reward, { status: 'scored' }>, score: number | null, reason: string): Reward {
  const beside = { ...parts, beside: score }
  return score === null
    ? { status: 'missing', value: null, parts: beside, reason }
    : { status: 'scored', value: value + score, parts: beside }
}
