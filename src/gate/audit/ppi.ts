import { normalQuantile } from '../../core/index.ts'
import { GateError } from '../errors.ts'
import type { Interval } from '../interval.ts'

/** What a judge says of many, and what is true of few of them. */
export interface Judgements {
  /** Drawn at random: the truth, and what the judge said. */
  readonly labelled: readonly { readonly truth: number; readonly judged: number }[]
  /** The judge's word alone. */
  readonly unlabelled: readonly number[]
}

/** A mean of the truth, as a judge and few labels tell it. */
export interface PoweredMean {
  readonly mean: number
  /** Of the mean: the judge's bias and its uncertainty are in it. */
  readonly variance: number
  /** How far the judge was trusted, from 0, not at all, to 1. */
  readonly trust: number
}

/**
 * Prediction-powered inference of a mean: the judge's mean over all, plus what labels show that it is off by.
 *
 *     θ = mean(truth) + λ·(mean of the judge over the unlabelled − mean of the judge over the labelled)
 *
 * λ minimises the variance and is cut to [0, 1] (PPI++): a judge that tells nothing gets 0, and θ is the labels' mean. With
 * any λ the judge's bias cancels, so that the interval holds whatever the judge does; it is asymptotic, for a sample that was
 * fixed beforehand. What is looked at again and again is tested by `truthAbove`.
 *
 * Source: Angelopoulos, Duchi & Zrnic 2023, "PPI++: efficient prediction-powered inference".
 * @throws GateError for fewer than two labels.
 */
export function poweredMean({ labelled, unlabelled }: Judgements): PoweredMean {
  const n = labelled.length
  if (n < 2) {
    throw new GateError({
      code: 'gate/too-few-labels',
      message: `A judge is calibrated against ${n} ${n === 1 ? 'label' : 'labels'}.`,
      hint: 'Label at least two sessions that were drawn at random; some dozens tell something.',
    })
  }
  const truths = labelled.map(({ truth }) => truth)
  const judged = labelled.map((one) => one.judged)
  const [meanTruth, meanJudged] = [meanOf(truths), meanOf(judged)]
  const N = unlabelled.length
  if (N < 2) return { mean: meanTruth, variance: varianceOf(truths) / n, trust: 0 }
  const all = varianceOf([...judged, ...unlabelled])
  const together = labelled.reduce((sum, one) => sum + (one.truth - meanTruth) * (one.judged - meanJudged), 0) / (n - 1)
  const trust = all === 0 ? 0 : Math.min(Math.max(together / (all * (1 + n / N)), 0), 1)
  const residuals = labelled.map((one) => one.truth - trust * one.judged)
  return {
    mean: meanOf(residuals) + trust * meanOf(unlabelled),
    variance: varianceOf(residuals) / n + (trust ** 2 * varianceOf(unlabelled)) / N,
    trust,
  }
}

/**
 * The difference of the arms' true means, candidate minus baseline, with its interval.
 * @param level of the interval, as in 0.95.
 * @throws GateError for fewer than two labels in an arm.
 */
export function poweredDifference(
  arms: { readonly baseline: Judgements; readonly candidate: Judgements },
  level: number,
): { readonly difference: number; readonly variance: number; readonly interval: Interval } {
  const [baseline, candidate] = [poweredMean(arms.baseline), poweredMean(arms.candidate)]
  const difference = candidate.mean - baseline.mean
  const variance = candidate.variance + baseline.variance
  const radius = normalQuantile((1 + level) / 2) * Math.sqrt(variance)
  return { difference, variance, interval: [difference - radius, difference + radius] }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function varianceOf(values: readonly number[]): number {
  const mean = meanOf(values)
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
}
