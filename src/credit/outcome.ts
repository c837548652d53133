import { type Credit, type CreditEstimator, type Group, rewardsOf, type ScoredTrajectory } from '../core/index.ts'

/**
 * Makes an estimator from a formula on a group's rewards. The attempt's advantage goes to each of its Decisions.
 * Missing rewards take no part and get no credit; groups whose rewards are all equal, or with fewer than two, carry no
 * signal and are counted; a vetoed attempt stays in the baseline and its advantage is never above 0 (invariant 5).
 */
export function outcomeCredit(
  name: string,
  advantages: (rewards: readonly number[]) => readonly number[],
): CreditEstimator {
  return attemptCredit(name, (_, rewards) => advantages(rewards))
}

/**
 * As {@link outcomeCredit}, for a formula that looks at the attempts as well.
 * @param advantages of attempts whose rewards are known; as many, in their order.
 */
export function attemptCredit(
  name: string,
  advantages: (attempts: readonly ScoredTrajectory[], rewards: readonly number[]) => readonly number[],
): CreditEstimator {
  return {
    name,
    async credit(groups) {
      const credits: Credit[] = []
      const counts = { missing: 0, uniformGroups: 0, singletonGroups: 0, vetoed: 0 }
      for (const group of groups) {
        const known = knownRewards(group)
        const rewards = known.map(({ value }) => value)
        counts.missing += group.attempts.length - known.length
        counts.vetoed += group.attempts.filter(({ reward }) => reward.status === 'vetoed').length
        if (known.length < 2) counts.singletonGroups++
        else if (rewards.every((reward) => reward === rewards[0])) counts.uniformGroups++
        else {
          const attempts = known.map(({ attempt }) => attempt)
          credits.push(...creditAttempts(attempts, advantages(attempts, rewards)))
        }
      }
      return { credits, counts }
    },
  }
}

/** The attempts of a group whose reward is known, each with it. */
export function knownRewards(group: Group): readonly { readonly attempt: ScoredTrajectory; readonly value: number }[] {
  return rewardsOf(group).flatMap((value, i) => {
    const attempt = group.attempts[i]
    return value === null || attempt === undefined ? [] : [{ attempt, value }]
  })
}

function* creditAttempts(attempts: readonly ScoredTrajectory[], advantages: readonly number[]): Generator<Credit> {
  for (const [i, { trajectory, reward }] of attempts.entries()) {
    const estimated = advantages[i] as number
    const advantage = reward.status === 'vetoed' ? Math.min(0, estimated) : estimated
    for (const { id } of trajectory.decisions) yield { trajectory: trajectory.id, decision: id, advantage }
  }
}

/** Arithmetic mean; 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Standard deviation of a population; 0 for an empty list. */
export function deviation(values: readonly number[]): number {
  const centre = mean(values)
  return Math.sqrt(mean(values.map((value) => (value - centre) ** 2)))
}
