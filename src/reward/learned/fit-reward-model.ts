import { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import { auc, brier, mean, type Prediction, reliability, type ReliabilityRow } from './accuracy.ts'
import { foldsBySubject, type JudgedExample } from './example.ts'
import { boundsOf } from './lower-bound.ts'
import { acceptance, type RewardModel, trainRewardModel } from './reward-model.ts'

const FitOptions = z.strictObject({
  /** Names what made the features; kept with the model. */
  features: z.string().min(1),
  /** Default `platt`; `isotonic` for a thousand examples or more. */
  calibration: z.enum(['platt', 'isotonic']).default('platt'),
  /** Shrinks the weights of standardised features. Default 1, scikit-learn's. */
  l2: z.number().positive().default(1),
  /**
   * Units of a hidden layer of tanh (a multilayer perceptron), up to 64: for what depends on features together. It wants more
   * examples. Default 0: a logistic regression.
   */
  hidden: z.int().min(0).max(64).default(0),
  /** Examples of one subject that count in full. Default 20: nobody's taste becomes everybody's. */
  mostOfSubject: z.number().positive().default(20),
  /** The chance that a model which is no better than a constant is taken. Default 0.05. */
  alpha: z.number().positive().lt(0.5).default(0.05),
  /** Subjects, at least; 10 or more. Default 10. */
  leastSubjects: z.int().min(10).default(10),
  /** Accepted examples, and rejected ones, at least. Default 10. */
  leastOfEach: z.int().min(2).default(10),
  seed: z.int().default(0),
})

/** What a model told of subjects that it had not seen, beside the best constant, which tells everyone the same. */
export interface HeldOutEvidence {
  readonly examples: number
  readonly subjects: number
  /** Share of examples that were accepted. */
  readonly accepted: number
  readonly brier: number
  readonly constantBrier: number
  /** By how much the model's Brier score lies below the constant's, mean over subjects; bounds one-sided at `alpha`. */
  readonly gain: { readonly mean: number; readonly low: number; readonly high: number }
  readonly auc: number | null
  readonly reliability: readonly ReliabilityRow[]
}

/** A model, or why there is none. */
export type FittedReward =
  | { readonly status: 'fitted'; readonly model: RewardModel; readonly evidence: HeldOutEvidence }
  | { readonly status: 'refused'; readonly reason: string; readonly evidence: HeldOutEvidence | null }

const heldOutFolds = 5

/**
 * A reward model from what people accepted and rejected (Lu et al., "Proactive Agent", 2024; by step as in Lightman et al.,
 * "Let's Verify Step by Step", 2023). It is refused unless, on subjects that were held out, it beats the constant by more
 * than chance: a reward that knows nothing would be learned from all the same. Equal examples and seeds give an equal model.
 * @throws InputError for options that it does not know; RewardError for examples whose features differ in number or are
 * not finite.
 */
export function fitRewardModel(examples: readonly JudgedExample[], options: z.input<typeof FitOptions>): FittedReward {
  const { alpha, leastSubjects, leastOfEach, ...training } = parseInput(FitOptions, options, 'The training of a reward')
  checkFeatures(examples)
  const subjects = new Set(examples.map(({ subject }) => subject)).size
  const accepted = examples.filter((one) => one.accepted).length
  const few = tooFew(
    [subjects, leastSubjects, 'subjects'],
    [accepted, leastOfEach, 'accepted examples'],
    [examples.length - accepted, leastOfEach, 'rejected examples'],
  )
  if (few !== null) return { status: 'refused', reason: few, evidence: null }

  const folds = foldsBySubject(examples, heldOutFolds, training.seed)
  const told: (Prediction & { readonly subject: string })[] = []
  for (let fold = 0; fold < heldOutFolds; fold++) {
    const rest = examples.filter((_, i) => folds[i] !== fold)
    const model = trainRewardModel(rest, training)
    for (const one of examples.filter((_, i) => folds[i] === fold)) {
      told.push({ told: acceptance(model, one.features), truth: one.accepted ? 1 : 0, subject: one.subject })
    }
  }
  // The best constant there is, which knows what is held out: one from the rest would err against each fold.
  const constant = mean(bySubject(told, ({ truth }) => truth))
  const gain = boundsOf(
    bySubject(told, ({ told: p, truth }) => (constant - truth) ** 2 - (p - truth) ** 2),
    alpha,
  )
  const evidence: HeldOutEvidence = {
    examples: examples.length,
    subjects,
    accepted: accepted / examples.length,
    brier: brier(told),
    constantBrier: brier(told.map(({ truth }) => ({ told: constant, truth }))),
    gain,
    auc: auc(told),
    reliability: reliability(told),
  }
  if (gain.low > 0) return { status: 'fitted', model: trainRewardModel(examples, training), evidence }
  const reason = `on held-out subjects it does not beat a constant: its Brier score is ${evidence.brier.toFixed(4)}, the constant's ${evidence.constantBrier.toFixed(4)}; the gain's lower bound is ${gain.low.toFixed(4)}`
  return { status: 'refused', reason, evidence }
}

/** The mean of a value over what each subject judged. */
function bySubject(told: readonly (Prediction & { readonly subject: string })[], value: (one: Prediction) => number) {
  const found = new Map<string, number[]>()
  for (const one of told) found.set(one.subject, [...(found.get(one.subject) ?? []), value(one)])
  return [...found.values()].map(mean)
}

function tooFew(...wanted: readonly (readonly [has: number, least: number, what: string])[]): string | null {
  const lacking = wanted.flatMap(([has, least, what]) => (has < least ? [`${has} ${what}, at least ${least}`] : []))
  return lacking.length === 0 ? null : `there is too little to learn from: ${lacking.join('; ')}`
}

function checkFeatures(examples: readonly JudgedExample[]): void {
  const size = examples[0]?.features.length ?? 0
  const bad = examples.findIndex(({ features }) => features.length !== size || !features.every(Number.isFinite))
  if (bad === -1) return
  throw new RewardError({
    code: 'reward/bad-features',
    message: `Example ${bad} has ${examples[bad]?.features.length ?? 0} features; the first has ${size}, and all must be finite numbers.`,
    hint: 'Make the features of all examples with one function.',
  })
}
