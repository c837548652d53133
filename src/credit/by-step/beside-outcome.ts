import type { Credit, CreditContext, CreditCounts, CreditEstimator } from '../../core/index.ts'
import { advantagesOf } from '../advantages.ts'
import { knownRewards } from '../outcome.ts'
import { withoutPraise } from '../veto.ts'
import type { StepAdvantages, StepRewards } from './step-credit.ts'
import { stepped, type SteppedAttempt } from './steps.ts'
import { readsTimesAs } from '../reads-times.ts'

/** A term for each Step, beside what the outcome says. */
export interface StepTerm extends StepRewards {
  readonly name: string
  /** What the whole attempt is worth. */
  readonly outcome: CreditEstimator
  /** The count of Steps without a term. */
  readonly without: 'loneSteps' | 'unlabelledSteps'
  /** @returns as many terms as there are attempts and Steps; `null` for a Step that has none. */
  readonly terms: (
    attempts: readonly SteppedAttempt[],
    context: CreditContext,
  ) => Promise<StepAdvantages> | StepAdvantages
}

/**
 * Adds a term for each Step to what an estimator of outcomes gives: A = A_outcome + term. Where the outcome gives an
 * attempt nothing, as in a group whose rewards are all equal, the term stands alone; a Decision that the outcome leaves out
 * of an attempt that it credits (`downstream`) stays out. What has neither gets no credit.
 */
export function besideOutcome({ name, outcome, without, terms, stepRewards = 'added' }: StepTerm): CreditEstimator {
  return {
    name: `${name}(${outcome.name})`,
    ...readsTimesAs(outcome),
    async credit(groups, context) {
      const { credits: ofOutcome, counts } = await outcome.credit(groups, context)
      const given = advantagesOf(ofOutcome)
      const credits: Credit[] = []
      let withoutTerm = 0
      for (const group of groups) {
        const attempts = knownRewards(group).map(({ attempt: { trajectory, reward }, value }) =>
          stepped(trajectory, reward, value, stepRewards === 'added'),
        )
        const found = await terms(attempts, context)
        for (const [i, { trajectory, steps }] of attempts.entries()) {
          const whole = given.get(trajectory.id)
          for (const [j, { decisions }] of steps.entries()) {
            const term = found[i]?.[j] ?? null
            if (term === null) withoutTerm++
            for (const decision of decisions) {
              const base = whole ? whole.get(decision) : 0
              if (base === undefined || (!whole && !term)) continue
              const advantage = base === null ? null : base + (term ?? 0)
              credits.push({ trajectory: trajectory.id, decision, advantage })
            }
          }
        }
      }
      const counted: CreditCounts = { ...counts, [without]: withoutTerm }
      return { credits: withoutPraise(credits, groups), counts: counted }
    },
  }
}
