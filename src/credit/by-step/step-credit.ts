import type { Credit, CreditContext, CreditEstimator } from '../../core/index.ts'
import { knownRewards } from '../outcome.ts'
import { withoutPraise } from '../veto.ts'
import { stepped, type SteppedAttempt } from './steps.ts'

/** An advantage for each Step of each attempt; `null` for a Step that gets none. */
export type StepAdvantages = readonly (readonly (number | null)[])[]

/** Whether what the environment said of single Steps is added to the outcome, or the outcome is all there is. */
export interface StepRewards {
  /** `added` by default. A rubric that counts them already would count them twice: then `ignored`. */
  readonly stepRewards?: 'added' | 'ignored'
}

/** A formula for the Steps of a group. */
export interface StepFormula extends StepRewards {
  readonly name: string
  /** Attempts that it needs at least. */
  readonly fewest: number
  /** @returns as many advantages as there are attempts and Steps; `null` where all of them earned the same. */
  readonly advantages: (attempts: readonly SteppedAttempt[], context: CreditContext) => StepAdvantages | null
}

/**
 * Makes an estimator from a formula on the Steps of a group. A Step's advantage goes to each of its Decisions. Missing
 * rewards take no part; a vetoed attempt does, and its advantages are never above 0 (invariant 5).
 */
export function stepCredit({ name, fewest, advantages, stepRewards = 'added' }: StepFormula): CreditEstimator {
  return {
    name,
    async credit(groups, context) {
      const credits: Credit[] = []
      const counts = { missing: 0, uniformGroups: 0, singletonGroups: 0, vetoed: 0, incomparable: 0 }
      for (const group of groups) {
        const known = knownRewards(group)
        counts.missing += group.attempts.length - known.length
        counts.vetoed += group.attempts.filter(({ reward }) => reward.status === 'vetoed').length
        const attempts = known.map(({ attempt: { trajectory, reward }, value }) =>
          stepped(trajectory, reward, value, stepRewards === 'added'),
        )
        const found = attempts.length < fewest ? [] : advantages(attempts, context)
        if (attempts.length < fewest) counts.singletonGroups++
        else if (found === null) counts.uniformGroups++
        for (const [i, { trajectory, steps }] of (found ? attempts : []).entries()) {
          for (const [j, { decisions }] of steps.entries()) {
            const advantage = found?.[i]?.[j]
            if (advantage === undefined) continue
            if (advantage === null) counts.incomparable += decisions.length
            else credits.push(...decisions.map((decision) => ({ trajectory: trajectory.id, decision, advantage })))
          }
        }
      }
      return { credits: withoutPraise(credits, groups), counts }
    },
  }
}

/** Whether all of these numbers are the same one; unknown ones say nothing. */
export function allEqual(values: readonly (number | null)[]): boolean {
  const known = values.filter((value) => value !== null)
  return known.every((value) => value === known[0])
}
