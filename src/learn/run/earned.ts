import { type Credit, creditKey, type Rubric, type ScoredTrajectory } from '../../core/index.ts'

/**
 * Credits of every decision of these trajectories: what an estimator says, and as their `utility`, where it gives none, what
 * their episode earned. An estimator compares attempts, and says nothing of those that all earned the same; what learns how good
 * something is has to know of these as well, and of what the reward took for the options of choices. Episodes whose reward is missing stay without (invariant 1).
 */
export function withEarned(
  credits: readonly Credit[],
  scored: readonly ScoredTrajectory[],
  rubric: Pick<Rubric, 'chargedFor'>,
): readonly Credit[] {
  const known = new Map(credits.map((credit) => [creditKey(credit), credit]))
  return scored.flatMap(({ trajectory, reward }) => {
    const { value, status } = reward
    if (value === null) return []
    const vetoed = status === 'vetoed' && { vetoed: true as const }
    return trajectory.decisions.map(({ id, parameter }): Credit => {
      const decided = { trajectory: trajectory.id, decision: id }
      const told = known.get(creditKey(decided)) ?? { ...decided, advantage: null }
      if (told.utility !== undefined) return { ...vetoed, ...told }
      const charged = rubric.chargedFor?.(parameter, trajectory, reward) ?? 0
      return { utility: value, ...vetoed, ...(charged > 0 && { charged }), ...told }
    })
  })
}

/** Credits that say between what the rubric's rewards lie: what learns from rewards of any rubric has to know of it. */
export const inRangeOf = (
  { floor, ceiling }: Pick<Rubric, 'floor' | 'ceiling'>,
  credits: readonly Credit[],
): readonly Credit[] => credits.map((credit) => ({ ...credit, range: [floor, ceiling] }))
