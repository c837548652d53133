import { chanceBy } from '../../agent/index.ts'

/** What a logistic regression learns from: numbers, and whether it was so. */
export interface Example {
  readonly features: readonly number[]
  readonly label: 0 | 1
}

const steps = 800
const stride = 0.8
/** Keeps weights small where examples are few. */
const ridge = 1e-4

/** The weights that make the logistic loss −r log Q − (1 − r) log(1 − Q) least, with a small ridge: full gradient steps from 0. */
export function fitLogistic(examples: readonly Example[], size: number): readonly number[] {
  let weights: readonly number[] = Array.from({ length: size }, () => 0)
  for (let step = 0; step < steps; step++) {
    const gradient = Array.from({ length: size }, (_, i) => ridge * (weights[i] ?? 0))
    for (const { features, label } of examples) {
      const error = chanceBy(weights, features) - label
      for (let i = 0; i < size; i++) gradient[i] = (gradient[i] ?? 0) + (error * (features[i] ?? 0)) / examples.length
    }
    weights = weights.map((weight, i) => weight - stride * (gradient[i] ?? 0))
  }
  return weights
}

/** The mean logistic loss, in nats. */
export function logLoss(examples: readonly Example[], chance: (features: readonly number[]) => number): number {
  const loss = ({ features, label }: Example) => {
    const q = Math.min(1 - 1e-6, Math.max(1e-6, chance(features)))
    return label === 1 ? -Math.log(q) : -Math.log(1 - q)
  }
  return examples.reduce((sum, example) => sum + loss(example), 0) / examples.length
}
