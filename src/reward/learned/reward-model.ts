import { z } from 'zod'
import { fitLogistic, logit, rng } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import { calibrated, Calibration, isotonic, type Outcome, platt } from './calibrate.ts'
import { countsOf, foldsBySubject, type JudgedExample } from './example.ts'
import { activations, fitMlp } from './mlp.ts'

/**
 * How likely something is accepted, learned from what was: a logistic regression on features, or on the units of one hidden layer
 * over them; and a calibration. JSON, to be kept.
 */
export const RewardModel = z.strictObject({
  kind: z.literal('accept-reject'),
  /** Names what made the features: a model reads no others. */
  features: z.string(),
  /** Subtracted from each feature, and what it is then divided by. */
  middle: z.array(z.number()),
  scale: z.array(z.number().positive()),
  /** Of each unit of the hidden layer its bias, and then its weights. Absent where there is no such layer. */
  hidden: z.array(z.array(z.number())).min(1).exactOptional(),
  intercept: z.number(),
  weights: z.array(z.number()),
  calibration: Calibration,
})
export type RewardModel = z.infer<typeof RewardModel>

/** How a reward model is trained. */
export interface Training {
  readonly features: string
  readonly calibration: Calibration['kind']
  readonly l2: number
  /** Units of a hidden layer; 0: there is none. */
  readonly hidden: number
  readonly mostOfSubject: number
  readonly seed: number
}

type Scorer = Pick<RewardModel, 'middle' | 'scale' | 'hidden' | 'intercept' | 'weights'>

const calibrationFolds = 4

/** Calibrated on scores of examples that the scorer of their fold has not seen. */
export function trainRewardModel(examples: readonly JudgedExample[], training: Training): RewardModel {
  const folds = foldsBySubject(examples, calibrationFolds, training.seed)
  const counts = countsOf(examples, training.mostOfSubject)
  const outcomes: Outcome[] = []
  for (let fold = 0; fold < calibrationFolds; fold++) {
    const rest = examples.filter((_, i) => folds[i] !== fold)
    if (rest.length === 0) continue
    const scorer = trainScorer(rest, training)
    for (const [i, { features, accepted }] of examples.entries()) {
      if (folds[i] === fold) outcomes.push({ score: scoreOf(scorer, features), accepted, count: counts[i] ?? 0 })
    }
  }
  const calibration = training.calibration === 'platt' ? platt(outcomes) : isotonic(outcomes)
  return { kind: 'accept-reject', features: training.features, ...trainScorer(examples, training), calibration }
}

function trainScorer(examples: readonly JudgedExample[], { l2, hidden, mostOfSubject, seed }: Training): Scorer {
  const counts = countsOf(examples, mostOfSubject)
  const all = counts.reduce((sum, count) => sum + count, 0)
  const weighed = (value: (features: readonly number[]) => number) =>
    examples.reduce((sum, { features }, i) => sum + (counts[i] ?? 0) * value(features), 0) / all
  const middle = (examples[0]?.features ?? []).map((_, j) => weighed((features) => features[j] ?? 0))
  // What never changes tells nothing, and is divided by 1.
  const scale = middle.map((m, j) => Math.sqrt(weighed((features) => ((features[j] ?? 0) - m) ** 2)) || 1)
  const rows = examples.map(({ features }) => standardised(features, middle, scale))
  const targets = examples.map(({ accepted }) => (accepted ? 1 : 0))
  const data = { rows, targets, counts }
  if (hidden > 0) {
    const network = fitMlp(data, { units: hidden, l2, rng: rng('reward-mlp', seed) })
    const { intercept, weights } = network
    return { middle, scale, hidden: network.hidden.map((unit) => [...unit]), intercept, weights: [...weights] }
  }
  const { intercept, weights } = fitLogistic(data, l2)
  return { middle, scale, intercept, weights: [...weights] }
}

const standardised = (features: readonly number[], middle: readonly number[], scale: readonly number[]) =>
  features.map((value, j) => (value - (middle[j] ?? 0)) / (scale[j] ?? 1))

function scoreOf(scorer: Scorer, features: readonly number[]): number {
  const row = standardised(features, scorer.middle, scorer.scale)
  return logit(scorer, scorer.hidden ? activations(scorer.hidden, row) : row)
}

/**
 * The probability that something with these features is accepted, in [0, 1].
 * @throws RewardError for features of another number.
 */
export function acceptance(model: RewardModel, features: readonly number[]): number {
  if (features.length !== model.middle.length) {
    throw new RewardError({
      code: 'reward/bad-features',
      message: `The reward model reads ${model.middle.length} features ("${model.features}") and was given ${features.length}.`,
      hint: 'Give it the features that it was trained on, or train it again on these.',
    })
  }
  return calibrated(model.calibration, scoreOf(model, features))
}
