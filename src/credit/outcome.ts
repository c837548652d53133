import { type Credit, type CreditEstimator, type Group, rewardsOf } from '../core/index.ts'

/**
 * Makes an estimator from a formula on a group's rewards. The attempt's advantage goes to each of its Decisions.
 * Missing rewards take no part and get no credit; groups whose rewards are all equal, or with fewer than two, carry no
 * signal and are counted; a vetoed attempt stays in the baseline and its advantage is never above 0 (invariant 5).
 */
export function outcomeCredit(
  name: string,
  advantages: (rewards: readonly number[]) => readonly number[],
): CreditEstimator {
  return {
    name,
    credit(groups) {
      const credits: Credit[] = []
      const counts = { missing: 0, uniformGroups: 0, singletonGroups: 0, vetoed: 0 }
      for (const group of groups) {
        const rewards = rewardsOf(group)
        const known = rewards.filter((reward) => reward !== null)
        counts.missing += rewards.length - known.length
        counts.vetoed += group.attempts.filter(({ reward }) => reward.status === 'vetoed').length
        if (known.length < 2) counts.singletonGroups++
        else if (known.every((reward) => reward === known[0])) counts.uniformGroups++
        else credits.push(...creditAttempts(group, rewards, advantages(known)))
      }
      return { credits, counts }
    },
  }
}

function* creditAttempts(
  group: Group,
  rewards: readonly (number | null)[],
  advantages: readonly number[],
): Generator<Credit> {
  let next = 0
  for (const [i, { trajectory, reward }] of group.attempts.entries()) {
    if (rewards[i] === null) continue
    const estimated = advantages[next++] as number
    const advantage = reward.status === 'vetoed' ? Math.min(0, estimated) : estimated
    for (const { id } of trajectory.decisions) yield { trajectory: trajectory.id, decision: id, advantage }
  }
}

/** Arithmetic mean; 0 for an empty list. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
