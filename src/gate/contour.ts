/** Numbers with how often each occurs. */
export interface Counted {
  readonly value: Float64Array
  readonly count: Float64Array
}

/** A number and how far from the true one it may be. */
export interface Estimate {
  readonly value: number
  readonly error: number
}

const coarsest = 0.125
const mostHalvings = 12
/** Two steps that agree so well, relative to the value, end the refinement. */
const agreement = 1e-11
/** A point of the quadrature that is smaller than this, relative to the first, ends it. */
const negligible = 1e-17

/**
 * |1/(2πi) ∫ M(s)/s ds| along the vertical line through the saddle point in (from, to), with M(s) = Π 1/(1 − s·value)^count
 * the moment generating function of Σ value·exponential: the probability that the sum lies on the other side of 0 than
 * its mean.
 *
 * With t = scale·sinh τ along the line the trapezoid rule in τ converges exponentially, once its step resolves how the
 * integrand turns. A lopsided sample (one value far from the many others) turns fast: the step is halved until two sums
 * agree, and their difference is part of the error.
 */
export function tailBeyondMean({ value, count }: Counted, from: number, to: number): Estimate {
  const saddle = saddlePoint({ value, count }, from, to)
  // Relative to its value on the real axis, M(s)/s is Π 1/(1 − i·t·slope)^count; the pole of 1/s comes last.
  const slope = new Float64Array(value.length + 1)
  const times = Float64Array.of(...count, 1)
  let logPeak = -Math.log(Math.abs(saddle))
  let curvature = 1 / saddle ** 2
  let roundings = 8 + Math.abs(logPeak)
  for (let i = 0; i < value.length; i++) {
    const [x, n] = [value[i] as number, count[i] as number]
    const factor = 1 - saddle * x
    slope[i] = x / factor
    logPeak -= n * Math.log(factor)
    curvature += n * (slope[i] as number) ** 2
    roundings += n * (8 + (1 + Math.abs(saddle * x)) / factor + Math.abs(Math.log(factor)))
  }
  slope[value.length] = -1 / saddle
  const scale = 1 / Math.sqrt(curvature)

  let step = coarsest
  const first = pointsFrom(step, step, scale, slope, times)
  let sum = 0.5 + first.sum
  let size = 0.5 + first.size
  let difference = Number.POSITIVE_INFINITY
  for (let halvings = 0; halvings < mostHalvings; halvings++) {
    const between = pointsFrom(step / 2, step, scale, slope, times)
    // Twice the coarser sum is the sum at half the step as it would be without the points between.
    difference = Math.abs(between.sum - sum)
    ;[sum, size, step] = [sum + between.sum, size + between.size, step / 2]
    if (difference <= agreement * Math.abs(sum)) break
  }
  const unit = (Math.exp(logPeak) * step * scale) / Math.PI
  return { value: unit * sum, error: unit * (difference + size * roundings * Number.EPSILON) }
}

/** Σ of the integrand over τ = start, start + step, …, relative to its value at 0, and Σ of its size. */
function pointsFrom(start: number, step: number, scale: number, slope: Float64Array, times: Float64Array) {
  let sum = 0
  let sizes = 0
  for (let k = 0; ; k++) {
    const tau = start + k * step
    const t = scale * Math.sinh(tau)
    let real = 1
    let imaginary = 0
    for (let i = 0; i < slope.length; i++) {
      // (1 − i·turn)^times by squaring.
      let a = 1
      let b = -t * (slope[i] as number)
      for (let power = times[i] as number; power > 0; power = Math.floor(power / 2)) {
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
    const size = Math.hypot(real, imaginary)
    const height = Math.cosh(tau) / size
    if (!(height > negligible)) return { sum, size: sizes }
    sum += height * (real / size)
    sizes += height
  }
}

/** Where M(s)/|s| is least on the open interval (from, to): its logarithm is convex there, without pole or zero. */
function saddlePoint({ value, count }: Counted, from: number, to: number): number {
  let low = from
  let high = to
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2
    let slope = -1 / middle
    for (let j = 0; j < value.length; j++) {
      slope += ((count[j] as number) * (value[j] as number)) / (1 - middle * (value[j] as number))
    }
    if (slope > 0) high = middle
    else low = middle
    // Near one end of the interval it is the distance to that end that must be right.
    if (high - low <= 1e-3 * Math.min(middle - from, to - middle)) break
  }
  return (low + high) / 2
}
