import { normalQuantile } from '../core/index.ts'
import { meanLowerBound } from './bounded-mean.ts'
import { GateError } from './errors.ts'

/** [lower, upper]. */
export type Interval = readonly [lower: number, upper: number]

/**
 * Wilson's score interval of a success rate, two-sided at `level` (0.95: on average 95 % of such intervals hold the
 * true rate). Without trials it is [0, 1].
 * @throws GateError when the counts or the level are impossible.
 */
export function wilson(successes: number, n: number, level: number): Interval {
  if (!Number.isInteger(successes) || !Number.isInteger(n) || successes < 0 || successes > n) {
    throw new GateError({
      code: 'gate/bad-counts',
      message: `${successes} successes of ${n} trials is not possible.`,
      hint: 'Give whole numbers with 0 ≤ successes ≤ n.',
    })
  }
  checkLevel(level)
  if (n === 0) return [0, 1]
  const rate = successes / n
  const z2 = normalQuantile((1 + level) / 2) ** 2
  const centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
  const half = Math.sqrt((z2 * rate * (1 - rate)) / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
  return [successes === 0 ? 0 : centre - half, successes === n ? 1 : centre + half]
}

/**
 * Two-sided confidence interval at `level` for the mean of paired differences that lie in [−span, span]: both sides
 * are the bound that is dual to the gate's test ({@link meanLowerBound}), each at (1 − level)/2.
 * @throws GateError when the level is impossible or a difference lies outside the span.
 */
export function pairedInterval(differences: readonly number[], span: number, level: number): Interval {
  checkLevel(level)
  const outside = differences.find((difference) => !(Math.abs(difference) <= span))
  if (outside !== undefined) {
    throw new GateError({
      code: 'gate/difference-out-of-range',
      message: `A paired difference is ${outside}, outside [${-span}, ${span}].`,
      hint: 'The span is the width of the range of rewards.',
    })
  }
  return boundsOfMean({ low: differences, high: differences }, span, (1 - level) / 2)
}

/**
 * Lower bound of the mean of `low` and upper bound of the mean of `high`, each one-sided at `alpha`: with the worst
 * and the best case of what is missing, an interval that holds whatever is missing.
 */
export function boundsOfMean(
  { low, high }: { readonly low: readonly number[]; readonly high: readonly number[] },
  span: number,
  alpha: number,
): Interval {
  return [meanLowerBound(low, -span, alpha), -meanLowerBound(negated(high), -span, alpha)]
}

/** The sample seen from the other side: "its mean is below b" is "the mean of the negated is above −b". */
export function negated(values: readonly number[]): readonly number[] {
  return values.map((value) => -value)
}

function checkLevel(level: number): void {
  if (level > 0 && level < 1) return
  throw new GateError({
    code: 'gate/bad-level',
    message: `The confidence level ${level} is not between 0 and 1.`,
    hint: 'For a 95 % interval give 0.95.',
  })
}
