import { normalCdf, solve } from '../../core/index.ts'
import type { ChoiceValue, Quality } from './value.ts'

/** What is believed of an option's quality in one choice, in the reward's unit and before costs. */
export interface Belief {
  readonly mean: number
  readonly deviation: number
  /** Points that stand for the distribution, with what each weighs; the weights add up to 1. */
  readonly points: { readonly at: Float64Array; readonly weight: Float64Array }
  /** The chance that the quality is at most so much. */
  below(quality: number): number
}

/** What is believed of an option, where these are the features. */
export function beliefIn(
  { range, noise }: Pick<ChoiceValue, 'range' | 'noise'>,
  quality: Quality,
  features: readonly number[],
): Belief {
  const [low, high] = range
  const width = high - low
  const unit = 'alpha' in quality ? beta(quality.alpha, quality.beta) : linear(quality, noise, features)
  return {
    mean: low + width * unit.mean,
    deviation: width * unit.deviation,
    points: { at: unit.points.at.map((at) => low + width * at), weight: unit.points.weight },
    below: (at) => unit.below((at - low) / width),
  }
}

/** Cells of [0, 1] that a Beta distribution is laid out in. */
const cells = 2048

/** Beta(α, β) on a grid: mean α/(α+β), variance αβ/((α+β)²(α+β+1)). */
function beta(alpha: number, beta: number): Belief {
  const total = alpha + beta
  const at = Float64Array.from({ length: cells }, (_, i) => (i + 0.5) / cells)
  const weight = weighed(at.map((x) => (alpha - 1) * Math.log(x) + (beta - 1) * Math.log1p(-x)))
  const cumulated = new Float64Array(cells + 1)
  for (const [i, mass] of weight.entries()) cumulated[i + 1] = (cumulated[i] ?? 0) + mass
  return {
    mean: alpha / total,
    deviation: Math.sqrt((alpha * beta) / (total * total * (total + 1))),
    points: { at, weight },
    below(quality) {
      const place = Math.min(Math.max(quality, 0), 1) * cells
      const cell = Math.min(Math.floor(place), cells - 1)
      const [before = 0, after = 1] = [cumulated[cell], cumulated[cell + 1]]
      return before + (place - cell) * (after - before)
    },
  }
}

/** How finely, and how far in deviations to either side, a Gaussian is laid out. */
const [step, reach] = [0.05, 6]
const grid = Float64Array.from({ length: (2 * reach) / step + 1 }, (_, i) => i * step - reach)

/** The quality x·θ with θ ~ N(A⁻¹b, noise²·A⁻¹): mean x·A⁻¹b, variance noise²·x·A⁻¹x. */
function linear(
  { precision, moments }: Exclude<Quality, { alpha: number }>,
  noise: number,
  features: readonly number[],
): Belief {
  const x = withIntercept(features)
  const spread = solve(precision, x)
  const mean = innerProduct(spread, moments)
  const deviation = noise * Math.sqrt(innerProduct(spread, x))
  return {
    mean,
    deviation,
    points: { at: grid.map((z) => mean + deviation * z), weight: weighed(grid.map((z) => (-z * z) / 2)) },
    below: (quality) => normalCdf((quality - mean) / deviation),
  }
}

/** Weights in proportion to the exponentials of these; they add up to 1. */
function weighed(logs: Float64Array): Float64Array {
  const highest = logs.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  const masses = logs.map((log) => Math.exp(log - highest))
  const sum = masses.reduce((all, mass) => all + mass, 0)
  return masses.map((mass) => mass / sum)
}

/** Features, and a 1 for what does not depend on them. */
export const withIntercept = (features: readonly number[]): readonly number[] => [...features, 1]

/** The inner product of two lists of one length. */
export const innerProduct = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
