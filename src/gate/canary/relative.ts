import { MEMORY } from '../betting.ts'
import type { Observation } from './difference-test.ts'

/** What one value of a metric is beside what was seen before it. */
type Compare = (x: number, before: Recent) => number | null

/**
 * A metric from 0 on as x/(x + s), with x: the value, of the candidate over 1 + `share`, and s: the median of x over the
 * latest sessions before. It lies in [0, 1], rises with the value and knows no unit. If the candidate's values over
 * 1 + `share` are stochastically no larger than the baseline's, its mean is no larger whatever s is, and s is of the past
 * only: so the test is as valid for it as for any other.
 */
export function relativeTo(measured: readonly Observation[], share: number): readonly Observation[] {
  return compared(measured, share, (x, before) => {
    const scale = before.median
    // The first one has nothing to be compared with.
    return scale === undefined ? 1 / 2 : x === 0 ? 0 : x / (x + scale)
  })
}

/** What is above so many times the value that a tenth of the sessions exceed is far above what is usual. */
const FAR = 3
const USUAL = 0.9
/** Fewer sessions tell nothing of what is usual. */
const FEWEST = 20

/**
 * Whether a value, of the candidate over 1 + `share`, is far above what is usual: a few sessions that are very dear move no
 * median. The bound is of the past only and the same for both arms, so that the test is valid as {@link relativeTo}'s is.
 * The first sessions are left out, whatever their arm.
 */
export function farAbove(measured: readonly Observation[], share: number): readonly Observation[] {
  return compared(measured, share, (x, before) => {
    const usual = before.quantile(USUAL)
    return usual === undefined || before.size < FEWEST ? null : Number(x > FAR * usual)
  })
}

function compared(measured: readonly Observation[], share: number, compare: Compare): readonly Observation[] {
  const before = new Recent()
  return measured.map((o) => {
    if (o.value === null) return o
    const x = Math.max(o.value, 0) / (o.candidate ? 1 + share : 1)
    const value = compare(x, before)
    before.add(x)
    return { ...o, value }
  })
}

/** The latest values, in their order and sorted. */
class Recent {
  readonly #latest: number[] = []
  readonly #sorted: number[] = []

  get size(): number {
    return this.#sorted.length
  }

  get median(): number | undefined {
    return this.#sorted[Math.floor((this.size - 1) / 2)]
  }

  quantile(part: number): number | undefined {
    return this.#sorted[Math.min(Math.floor(part * this.size), this.size - 1)]
  }

  add(x: number): void {
    this.#latest.push(x)
    this.#sorted.splice(placeIn(this.#sorted, x), 0, x)
    const oldest = this.#latest.length > MEMORY ? this.#latest.shift() : undefined
    if (oldest !== undefined) this.#sorted.splice(placeIn(this.#sorted, oldest), 1)
  }
}

/** Index of the first value that is not below `x`. */
function placeIn(sorted: readonly number[], x: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? x) < x) low = middle + 1
    else high = middle
  }
  return low
}
