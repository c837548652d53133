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

const STEP = 0.125
/** A point of the quadrature that is smaller than this, relative to the first, ends it. */
const NEGLIGIBLE = 1e-16

/**
 * p-value of the null hypothesis "the mean is at most `bound`" for an i.i.d. `sample` that is nowhere below `floor`.
 * Relative error below 1e-9 where p exceeds 1e-15, and growing below: 1e-3 at 1e-60.
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

/** Numbers with how often each occurs. */
interface Counted {
  readonly value: Float64Array
  readonly count: Float64Array
}

function count(values: readonly number[]): Counted {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return { value: Float64Array.from(counts.keys()), count: Float64Array.from(counts.values()) }
}

/** Probability that the mean of the sample under random weights, uniform on the simplex, is at most `bound`. */
function probabilityBelow(sample: Counted, bound: number): number {
  let lowest = Number.POSITIVE_INFINITY
  let highest = Number.NEGATIVE_INFINITY
  let total = 0
  const value = sample.value.map((x) => x - bound)
  for (let i = 0; i < value.length; i++) {
    const distance = value[i] as number
    lowest = Math.min(lowest, distance)
    highest = Math.max(highest, distance)
    total += distance * (sample.count[i] as number)
  }
  if (highest <= 0) return 1
  if (lowest >= 0) return 0
  // Such weights are exponentials over their sum, so the sign of Σ weight·distance is that of Σ exponential·distance,
  // whose moment generating function is Π 1/(1 − s·distance).
  const distances = { value, count: sample.count }
  return total > 0 ? tail(distances, 1 / lowest, 0) : 1 - tail(distances, 0, 1 / highest)
}

/**
 * |1/(2πi) ∫ M(s)/s ds| along the vertical line through the saddle point in (from, to), with M the moment generating
 * function of Σ exponential·distance: the probability that the sum lies on the other side of 0 than its mean. With
 * t = scale·sinh τ along the line, the trapezoid rule in τ converges exponentially.
 */
function tail({ value, count }: Counted, from: number, to: number): number {
  const saddle = saddlePoint({ value, count }, from, to)
  // Relative to its value on the real axis, M(s)/s is Π 1/(1 − i·t·slope)^count; the pole of 1/s comes last.
  const slope = new Float64Array(value.length + 1)
  let logPeak = -Math.log(Math.abs(saddle))
  let curvature = 1 / saddle ** 2
  for (let i = 0; i < value.length; i++) {
    const factor = 1 - saddle * (value[i] as number)
    slope[i] = (value[i] as number) / factor
    logPeak -= (count[i] as number) * Math.log(factor)
    curvature += (count[i] as number) * (slope[i] as number) ** 2
  }
  slope[value.length] = -1 / saddle
  const scale = 1 / Math.sqrt(curvature)
  let sum = 0.5
  for (let tau = STEP; tau < 100; tau += STEP) {
    const t = scale * Math.sinh(tau)
    let real = 1
    let imaginary = 0
    for (let i = 0; i < slope.length; i++) {
      // (1 − i·turn)^count by squaring.
      let a = 1
      let b = -t * (slope[i] as number)
      for (let power = i < value.length ? (count[i] as number) : 1; power > 0; power = Math.floor(power / 2)) {
        if (power % 2 === 1) {
          const next = real * a - imaginary * b
          imaginary = real * b + imaginary * a
          real = next
        }
        const square = a * a - b * b
        b = 2 * a * b
        a = square
      }
    }
    const size = real * real + imaginary * imaginary
    sum += (Math.cosh(tau) * real) / size
    if (Math.cosh(tau) < NEGLIGIBLE * Math.sqrt(size)) break
  }
  return (Math.exp(logPeak) * sum * STEP * scale) / Math.PI
}

/** Where M(s)/|s| is least on the open interval (from, to): its logarithm is convex there, without pole or zero. */
function saddlePoint({ value, count }: Counted, from: number, to: number): number {
  let low = from
  let high = to
  for (let i = 0; i < 24; i++) {
    const middle = (low + high) / 2
    let slope = -1 / middle
    for (let j = 0; j < value.length; j++) {
      slope += ((count[j] as number) * (value[j] as number)) / (1 - middle * (value[j] as number))
    }
    if (slope > 0) high = middle
    else low = middle
  }
  return (low + high) / 2
}
