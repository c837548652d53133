import type { Credit, CreditEstimator } from '../core/index.ts'
import { advantagesOf } from './advantages.ts'
import { groupMean } from './group-mean.ts'
import { mean } from './outcome.ts'
import { withoutPraise } from './veto.ts'
import { readsTimesAs } from './reads-times.ts'

export interface BatchZScoreOptions {
  /** Gives the advantages. Default `groupMean()`. */
  readonly outcome?: CreditEstimator
  /** Take off the batch's mean as well, or divide alone, which turns no sign. Default `centred`. */
  readonly centre?: 'centred' | 'kept'
  /** Added to the deviation. Default 1e-6. */
  readonly epsilon?: number
}

/**
 * Another estimator's advantages in standard deviations of the whole batch: A′ = (A − μ)/(σ + ε). Every trajectory counts the
 * same in μ and σ, however many Decisions it has.
 *
 * With `groupMean()`, REINFORCE++-baseline (Hu et al. 2025, "REINFORCE++"): the group says what was to be expected, the batch
 * how large a surprise is, so that a group whose rewards hardly differ is not blown up as in GRPO. For groups of one,
 * `batchBaseline`.
 */
export function batchZScore({
  outcome = groupMean(),
  centre = 'centred',
  epsilon = 1e-6,
}: BatchZScoreOptions = {}): CreditEstimator {
  return {
    name: `batch-z-score(${outcome.name})`,
    ...readsTimesAs(outcome),
    async credit(groups, context) {
      const { credits, counts } = await outcome.credit(groups, context)
      const known = [...advantagesOf(credits).values()]
        .map((own) => [...own.values()].filter((advantage) => advantage !== null))
        .filter(({ length }) => length > 0)
      const middle = mean(known.map(mean))
      const variance = mean(known.map((own) => mean(own.map((advantage) => (advantage - middle) ** 2))))
      const unit = Math.sqrt(variance) + epsilon
      const shift = centre === 'centred' ? middle : 0
      const scaled = credits.map(
        (credit): Credit =>
          credit.advantage === null ? credit : { ...credit, advantage: (credit.advantage - shift) / unit },
      )
      return { credits: withoutPraise(scaled, groups), counts }
    },
  }
}
