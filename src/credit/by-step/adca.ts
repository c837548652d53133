import type { CreditContext, CreditEstimator, StepJudge, StepLabel } from '../../core/index.ts'
import { CreditError } from '../credit-error.ts'
import { grpo } from '../grpo.ts'
import { requireWithin } from '../option.ts'
import { mean } from '../outcome.ts'
import { besideOutcome } from './beside-outcome.ts'
import type { StepAdvantages } from './step-credit.ts'
import type { SteppedAttempt } from './steps.ts'

export interface AdcaOptions {
  /** What a whole attempt is worth, on a scale of about 1. Default `grpo()`, as in the paper. */
  readonly outcome?: CreditEstimator
  /** Who says of Steps whether they were good: a rule, or a judge. Default: `context.stepJudge`, as `learn` has it of `models.judge`. */
  readonly labels?: StepJudge
  /** α ≥ 0: what the labels weigh beside the outcome. Default 0.1. */
  readonly attribution?: number
  /** Added to the variance of the labels. Default 1e-6. */
  readonly epsilon?: number
}

/** What a label is worth before it is normalised. */
const worth: Readonly<Record<StepLabel, number>> = { good: 0.2, bad: -0.2 }

/**
 * Good and bad Steps beside the outcome: Aᵢⱼ = A_outcome,ᵢ + α·Σₖ≥ⱼ r_attr,ᵢₖ, where r_attr = (r̂ − μ)/√(σ² + ε) of labels
 * r̂ = ±0.2, and every attempt counts the same in μ and σ², however many Steps it has.
 *
 * ADCA-GRPO (Zhai et al. 2025, "AgentEvolver", section on self-attributing): labels and outcome are normalised each for
 * itself, then added, and summed from each Step to the end, where the outcome comes once. The paper lets it go for plain
 * GRPO after about 100 updates. A Step that nobody said anything of adds nothing and is in no mean. In a group whose rewards
 * are all equal the labels alone give credit: the counts say how many such groups there were.
 * @throws CreditError when nobody labels, or labels do not fit the Steps.
 */
export function adca({
  outcome = grpo(),
  labels,
  attribution = 0.1,
  epsilon = 1e-6,
}: AdcaOptions = {}): CreditEstimator {
  requireWithin(attribution, { estimator: 'adca', option: 'attribution', least: 0, most: 1e6 })
  return besideOutcome({
    name: 'adca',
    outcome,
    without: 'unlabelledSteps',
    async terms(attempts, context) {
      const judge = labels ?? judgeIn(context)
      const labelled = await Promise.all(attempts.map((attempt) => labelsOf(attempt, judge)))
      const normalised = normalise(
        labelled.map((own) => own.map((label) => (label === null ? null : worth[label]))),
        epsilon,
      )
      return normalised.map((own) => toTheEnd(own).map((sum) => sum && attribution * sum))
    },
  })
}

function judgeIn({ stepJudge }: CreditContext): StepJudge {
  if (stepJudge) return stepJudge
  throw new CreditError({
    code: 'credit/no-step-labels',
    message: 'Nobody says which steps of an episode were good: adca has no labels, and the context no stepJudge.',
    hint: 'Pass `labels` to adca, for example toolErrorLabels(); or give `learn` a model that judges: `models: { judge }`.',
  })
}

async function labelsOf({ trajectory, reward, steps }: SteppedAttempt, judge: StepJudge) {
  const labels = trajectory.steps.length === 0 ? null : await judge.label(trajectory, reward)
  if (labels === null) return steps.map(() => null)
  if (labels.length === steps.length) return labels
  throw new CreditError({
    code: 'credit/bad-labels',
    message: `"${judge.name}" gave ${labels.length} labels for the ${steps.length} steps of trajectory "${trajectory.id}".`,
    hint: 'Give one label for each step, null where it cannot be told, or null for no opinion at all.',
  })
}

/** Mean 0 and deviation 1, where each attempt that has labels weighs the same. */
function normalise(labels: StepAdvantages, epsilon: number): StepAdvantages {
  const known = labels.map((own) => own.filter((value) => value !== null)).filter(({ length }) => length > 0)
  const centre = mean(known.map(mean))
  const variance = mean(known.map((own) => mean(own.map((value) => (value - centre) ** 2))))
  return labels.map((own) =>
    own.map((value) => (value === null ? null : (value - centre) / Math.sqrt(variance + epsilon))),
  )
}

/** Sums from each Step to the last; `null` stays, and adds nothing to those before it. */
function toTheEnd(terms: readonly (number | null)[]): readonly (number | null)[] {
  let sum = 0
  const sums = terms.toReversed().map((term) => {
    sum += term ?? 0
    return term === null ? null : sum
  })
  return sums.toReversed()
}
