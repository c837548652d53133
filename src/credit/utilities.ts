import type { Credit, CreditEstimator } from '../core/index.ts'

/**
 * Adds to an estimator's Credits what each attempt earned (`utility`), also where the comparison says nothing: in groups
 * whose attempts all earned the same, there `advantage` is `null`. A memory needs it: that everybody succeeds by an item is
 * no reason not to remember it. What a guard vetoed and what is missing has no utility.
 */
export function utilities(outcome: CreditEstimator): CreditEstimator {
  return {
    name: `utilities(${outcome.name})`,
    async credit(groups, context) {
      const { credits, counts } = await outcome.credit(groups, context)
      const known = new Map(credits.map((credit) => [keyOf(credit), credit]))
      for (const { trajectory, reward } of groups.flatMap(({ attempts }) => attempts)) {
        if (reward.status !== 'scored') continue
        for (const { id } of trajectory.decisions) {
          const key = keyOf({ trajectory: trajectory.id, decision: id })
          const credit: Credit = known.get(key) ?? { trajectory: trajectory.id, decision: id, advantage: null }
          known.set(key, { ...credit, utility: reward.value })
        }
      }
      return { credits: [...known.values()], counts }
    },
  }
}

const keyOf = ({ trajectory, decision }: Pick<Credit, 'trajectory' | 'decision'>) =>
  JSON.stringify([trajectory, decision])
