import { type Counted, tailBeyondMean } from './contour.ts'
import { lossesOutlast } from './race.ts'

/**
 * The mean of a bounded distribution from an i.i.d. sample, with nothing else assumed (Gaffke 2005; Learned-Miller &
 * Thomas 2020, "A new confidence interval for the mean of a bounded random variable").
 *
 * Give the sample and the lowest possible value `floor` random weights that are uniform on the simplex (the Bayesian
 * bootstrap with one pessimistic observation added). The p-value of "the mean is at most `bound`" is the probability
 * that the weighted mean is at most `bound`. For a 0/1 sample this is the exact binomial test and its bound is
 * Clopper and Pearson's; for paired differences of 0/1 scores and `bound` 0 it is the exact test of McNemar. It does
 * not depend on the order of the sample, and it never rises when an observation does.
 */

/** Up to so many steps the race is run; beyond, it would take longer than some milliseconds. */
const mostSteps = 2 ** 20

/**
 * p-value of the null hypothesis "the mean is at most `bound`" for an i.i.d. `sample` that is nowhere below `floor`.
 * Never below the true p-value of these doubles, whatever the sample: what rounding may have lost is added. Above it by
 * less than 1e-9 of it; a p-value below 1e-300 is told as 1e-300.
 */
export function meanAbove(sample: readonly number[], floor: number, bound: number): number {
  return probabilityBelow(count([floor, ...sample]), bound)
}

/**
 * The largest `bound` that {@link meanAbove} rejects at level `alpha`: a lower confidence bound of the mean with
 * one-sided coverage 1 − alpha. Never above the largest observation, never below `floor`.
 */
export function meanLowerBound(sample: readonly number[], floor: number, alpha: number): number {
  const counted = count([floor, ...sample])
  const highest = sample.reduce((a, b) => Math.max(a, b), floor)
  const tolerance = 1e-9 * (highest - floor)
  // About linear in the bound, as a z-score is.
  const surprise = (p: number) => Math.sqrt(-2 * Math.log(Math.min(Math.max(p, 1e-300), 1)))
  const excess = (bound: number) => surprise(alpha) - surprise(probabilityBelow(counted, bound))
  let [low, atLow] = [floor, surprise(alpha) - surprise(0)]
  let [high, atHigh] = [highest, surprise(alpha)]
  // Regula falsi with the Illinois rule: the end that stays counts half the next time. `low` is rejected at any moment.
  let moved: 'low' | 'high' | null = null
  for (let i = 0; i < 100 && high - low > tolerance; i++) {
    const guess = low - (atLow * (high - low)) / (atHigh - atLow)
    const middle = Math.min(Math.max(guess, low + tolerance / 2), high - tolerance / 2)
    const value = excess(middle)
    if (value > 0) {
      if (moved === 'high') atLow /= 2
      ;[high, atHigh, moved] = [middle, value, 'high']
    } else {
      if (moved === 'low') atHigh /= 2
      ;[low, atLow, moved] = [middle, value, 'low']
    }
  }
  return low
}

function count(values: readonly number[]): Counted {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return { value: Float64Array.from(counts.keys()), count: Float64Array.from(counts.values()) }
}

/**
 * Probability that the mean of the sample under random weights, uniform on the simplex, is at most `bound`: never below
 * it. Such weights are exponentials over their sum, so it is that of Σ exponential·distance ≤ 0.
 */
function probabilityBelow(sample: Counted, bound: number): number {
  let total = 0
  let gains = 0
  let losses = 0
  let lowest = 0
  let highest = 0
  const value = sample.value.map((x) => x - bound)
  for (let i = 0; i < value.length; i++) {
    const [distance, times] = [value[i] as number, sample.count[i] as number]
    if (distance > 0) gains += times
    if (distance < 0) losses += times
    lowest = Math.min(lowest, distance)
    highest = Math.max(highest, distance)
    total += distance * times
  }
  if (gains === 0) return 1
  if (losses === 0) return 0
  const distances = { value, count: sample.count }
  if (gains * losses <= mostSteps) {
    return Math.min(1, lossesOutlast(each(distances, 1, gains), each(distances, -1, losses)))
  }
  const tail = total > 0 ? tailBeyondMean(distances, 1 / lowest, 0) : tailBeyondMean(distances, 0, 1 / highest)
  const p = total > 0 ? tail.value : 1 - tail.value
  return Math.min(1, Math.max(p, 1e-300) + tail.error)
}

/** The sizes of the distances of one sign, each as often as it occurs. */
function each({ value, count }: Counted, sign: 1 | -1, length: number): Float64Array {
  const sizes = new Float64Array(length)
  let end = 0
  for (let i = 0; i < value.length; i++) {
    const size = sign * (value[i] as number)
    if (size > 0) sizes.fill(size, end, (end += count[i] as number))
  }
  return sizes
}
