import { normalCdf, solve } from '../../core/index.ts'
import type { ChoiceValue, Quality } from './value.ts'

/** What is believed of an option's quality in one choice, in the reward's unit and before costs. */
export interface Belief {
  readonly mean: number
  readonly deviation: number
  /** Points that stand for the distribution, with what each weighs; the weights add up to 1. */
  readonly points: readonly { readonly at: number; readonly weight: number }[]
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
    points: unit.points.map(({ at, weight }) => ({ at: low + width * at, weight })),
    below: (at) => unit.below((at - low) / width),
  }
}

/** Cells of [0, 1] that a Beta distribution is laid out in. */
const cells = 2048

/** Beta(α, β) on a grid: mean α/(α+β), variance αβ/((α+β)²(α+β+1)). */
function beta(alpha: number, beta: number): Belief {
  const total = alpha + beta
  const logs = Array.from({ length: cells }, (_, i) => {
    const at = (i + 0.5) / cells
    return (alpha - 1) * Math.log(at) + (beta - 1) * Math.log1p(-at)
  })
  const highest = Math.max(...logs)
  const masses = logs.map((log) => Math.exp(log - highest))
  const sum = masses.reduce((all, mass) => all + mass, 0)
  const points = masses.map((mass, i) => ({ at: (i + 0.5) / cells, weight: mass / sum }))
  const cumulated = [0]
  for (const { weight } of points) cumulated.push((cumulated.at(-1) ?? 0) + weight)
  return {
    mean: alpha / total,
    deviation: Math.sqrt((alpha * beta) / (total * total * (total + 1))),
    points,
    below(at) {
      const place = Math.min(Math.max(at, 0), 1) * cells
      const cell = Math.min(Math.floor(place), cells - 1)
      const [before = 0, after = 1] = [cumulated[cell], cumulated[cell + 1]]
      return before + (place - cell) * (after - before)
    },
  }
}

/** How finely, and how far in deviations to either side, a Gaussian is laid out. */
const [step, reach] = [0.05, 6]

/** The quality x·θ with θ ~ N(A⁻¹b, noise²·A⁻¹): mean x·A⁻¹b, variance noise²·x·A⁻¹x. */
function linear(
  { precision, moments }: Exclude<Quality, { alpha: number }>,
  noise: number,
  features: readonly number[],
): Belief {
  const x = withIntercept(features)
  const spread = solve(precision, x)
  const mean = dot(spread, moments)
  const deviation = noise * Math.sqrt(dot(spread, x))
  const grid = Array.from({ length: (2 * reach) / step + 1 }, (_, i) => i * step - reach)
  const total = grid.reduce((sum, at) => sum + Math.exp((-at * at) / 2), 0)
  return {
    mean,
    deviation,
    points: grid.map((at) => ({ at: mean + deviation * at, weight: Math.exp((-at * at) / 2) / total })),
    below: (at) => normalCdf((at - mean) / deviation),
  }
}

/** Features, and a 1 for what does not depend on them. */
export const withIntercept = (features: readonly number[]): readonly number[] => [...features, 1]

/** The inner product of two lists of one length. */
export const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)
