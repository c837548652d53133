import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng } from '../core/index.ts'
import { meanAbove, meanLowerBound } from './bounded-mean.ts'
import vectors from './gate.vectors.json' with { type: 'json' }

/** Differences of pass/fail scores. */
const paired = (wins: number, losses: number, tasks: number) =>
  Array.from({ length: tasks }, (_, i) => (i < wins ? 1 : i < wins + losses ? -1 : 0))
const passFail = (successes: number, n: number) => Array.from({ length: n }, (_, i) => (i < successes ? 1 : 0))
/** A double as a fraction. */
const fraction = (value: number): readonly [bigint, bigint] => {
  let power = 0
  let scaled = value
  for (; !Number.isInteger(scaled); power++) scaled *= 2
  return [BigInt(scaled), 2n ** BigInt(power)]
}
/** A fraction as a double, to 17 digits; it may be far below what a double of its parts could hold. */
const toNumber = (numerator: bigint, denominator: bigint): number => {
  if (numerator === 0n) return 0
  const shift = BigInt(Math.max(0, denominator.toString(2).length - numerator.toString(2).length + 64))
  const quotient = (numerator << shift) / denominator
  const excess = Math.max(0, quotient.toString(2).length - 64)
  const power = excess - Number(shift)
  return Number(quotient >> BigInt(excess)) * 2 ** Math.floor(power / 2) * 2 ** Math.ceil(power / 2)
}
/** P(Binomial(n, at) ≥ successes), exact until it is rounded to a double. */
function binomialTail(n: number, successes: number, at: number): number {
  const [p, one] = fraction(at)
  const q = one - p
  // Whichever side has fewer terms.
  const upper = n - successes <= successes
  const [from, to] = upper ? [successes, n] : [0, successes - 1]
  let sum = 0n
  let choose = 1n
  for (let k = 0; k <= to; k++) {
    if (k >= from) sum += choose * p ** BigInt(k) * q ** BigInt(n - k)
    choose = (choose * BigInt(n - k)) / BigInt(k + 1)
  }
  const whole = one ** BigInt(n)
  return toNumber(upper ? sum : whole - sum, whole)
}
/** P(Σ exponential·(value − at) ≤ 0) of distinct values by partial fractions, exact until it is rounded to a double. */
function gradedTail(distinct: readonly number[], at: number): number {
  const unit = 2n ** 1074n
  const exact = (value: number) => {
    const [numerator, denominator] = fraction(value)
    return (numerator * unit) / denominator
  }
  const y = distinct.map((value) => exact(value) - exact(at))
  let [numerator, denominator] = [0n, 1n]
  for (const low of y.filter((distance) => distance < 0n)) {
    const others = y.filter((other) => other !== low)
    const top = low ** BigInt(others.length)
    const bottom = others.reduce((product, other) => product * (low - other), 1n)
    ;[numerator, denominator] = [numerator * bottom + top * denominator, denominator * bottom]
  }
  return denominator < 0n ? toNumber(-numerator, -denominator) : toNumber(numerator, denominator)
}
const values = fc.array(
  fc.integer({ min: -20, max: 20 }).map((k) => k / 20),
  { minLength: 1, maxLength: 40 },
)
const bound = fc.integer({ min: -19, max: 19 }).map((k) => k / 20 + 0.01)

describe('meanAbove', () => {
  it('is Markov on one observation: bound / value', () => {
    expect(meanAbove([1], 0, 0.3)).toBeCloseTo(0.3, 12)
    expect(meanAbove([0.5], 0, 0.1)).toBeCloseTo(0.2, 12)
  })

  it('is the exact binomial test on 0/1 values: both of two succeed at 1/2 with probability 1/4', () => {
    expect(meanAbove([1, 1], 0, 0.5)).toBeCloseTo(0.25, 12)
    expect(meanAbove([1, 0], 0, 0.5)).toBeCloseTo(0.75, 12)
  })

  it('is 1 when no observation exceeds the bound, and 0 when the bound is below what is possible', () => {
    expect(meanAbove([0.2, 0.3], 0, 0.3)).toBe(1)
    expect(meanAbove([0.2, 0.3], 0, -0.1)).toBe(0)
  })

  it.each(vectors.mcnemar)('is exact McNemar on %i wins and %i losses (statsmodels)', (wins, losses, expected) => {
    expect(meanAbove(paired(wins, losses, wins + losses + 50), -1, 0) / expected).toBeCloseTo(1, 10)
  })

  it.each(vectors.paired)(
    '%i wins, %i losses of %i against margin %d (scipy integral)',
    (w, l, n, margin, expected) => {
      expect(meanAbove(paired(w, l, n), -1, margin)).toBeCloseTo(expected, 9)
    },
  )

  it.each(vectors.graded)('agrees with exact rational arithmetic on graded values %#', ({ floor, sample, pValues }) => {
    for (const [at, expected] of pValues as [number, number][]) {
      expect(meanAbove(sample, floor, at) / expected).toBeCloseTo(1, 8)
    }
  })

  it.each(vectors.lopsided)(
    'is exact where few stand against many, and never below the true value (mpmath) %#',
    ({ floor, sample, pValues }) => {
      const values = sample.flatMap(([value, count]) => Array<number>(count!).fill(value!))
      for (const [at, expected] of pValues as [number, number][]) {
        const p = meanAbove(values, floor, at)
        expect(p).toBeGreaterThanOrEqual(expected)
        expect(p / expected - 1).toBeLessThan(1e-9)
      }
    },
  )

  it('is never below the exact binomial test, in rational arithmetic, however lopsided', () => {
    const lopsided = fc
      .record({
        n: fc.integer({ min: 1, max: 1200 }),
        few: fc.nat(3),
        wins: fc.boolean(),
        at: fc.double({ min: 0, max: 1 }),
      })
      .map(({ n, few, wins, at }) => ({ n, successes: wins ? Math.min(n, few) : Math.max(0, n - few), at }))
      .filter(({ at }) => at > 1e-6 && at < 1)
    fc.assert(
      fc.property(lopsided, ({ n, successes, at }) => {
        const exact = binomialTail(n, successes, at)
        fc.pre(exact > 1e-290)
        const p = meanAbove(passFail(successes, n), 0, at)
        expect(p).toBeGreaterThanOrEqual(exact)
        expect(p / exact - 1).toBeLessThan(1e-11)
      }),
      { numRuns: 60 },
    )
  })

  it('is never below the exact value, in rational arithmetic, of graded samples', () => {
    fc.assert(
      fc.property(values, fc.double({ min: -0.99, max: 0.99, noNaN: true }), (sample, at) => {
        const distinct = [...new Set([-1, ...sample])]
        fc.pre(!distinct.includes(at))
        const exact = gradedTail(distinct, at)
        const p = meanAbove(distinct.slice(1), -1, at)
        expect(p).toBeGreaterThanOrEqual(exact)
        expect(p - exact).toBeLessThanOrEqual(1e-11 * exact)
      }),
    )
  })

  it('tells what is too small for a double as 1e-300, and not as nothing', () => {
    expect(meanAbove(passFail(1000, 1000), 0, 0.1)).toBeCloseTo(1e-300, 305)
    expect(meanAbove(passFail(4000, 4000), 0, 0.1)).toBeGreaterThanOrEqual(1e-300)
  })

  it('keeps its relative accuracy in the tail: 50 wins without a loss are 2^-50', () => {
    expect(meanAbove(paired(50, 0, 200), -1, 0) * 2 ** 50).toBeCloseTo(1, 9)
  })

  it('does not depend on the order, and is a probability', () => {
    fc.assert(
      fc.property(values, bound, fc.integer(), (sample, at, seed) => {
        const p = meanAbove(sample, -1, at)
        expect(meanAbove(rng(seed).shuffle(sample), -1, at)).toBeCloseTo(p, 11)
        expect(p).toBeGreaterThanOrEqual(0)
        expect(p).toBeLessThanOrEqual(1 + 1e-12)
      }),
    )
  })

  it('never rises when an observation does, nor falls when the bound rises', () => {
    fc.assert(
      fc.property(values, bound, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (sample, at, index, share) => {
        const p = meanAbove(sample, -1, at)
        const raised = sample.map((value, i) => (i === index % sample.length ? value + share * (1 - value) : value))
        expect(meanAbove(raised, -1, at)).toBeLessThanOrEqual(p + 1e-11)
        expect(meanAbove(sample, -1, at + 0.1)).toBeGreaterThanOrEqual(p - 1e-11)
      }),
    )
  })

  it('does not depend on the unit or the zero of the scale', () => {
    fc.assert(
      fc.property(values, bound, (sample, at) => {
        const scaled = sample.map((value) => 3 * value + 5)
        expect(meanAbove(scaled, 2, 3 * at + 5)).toBeCloseTo(meanAbove(sample, -1, at), 9)
      }),
    )
  })
})

describe('meanLowerBound', () => {
  it.each(vectors.clopperPearson)('is Clopper–Pearson on %i of %i at %d (scipy)', (k, n, alpha, expected) => {
    expect(meanLowerBound(passFail(k, n), 0, alpha)).toBeCloseTo(expected, 7)
  })

  it.each(vectors.graded)('agrees with exact rational arithmetic on graded values %#', ({ floor, sample, lower }) => {
    for (const [alpha, expected] of lower as [number, number][]) {
      expect(meanLowerBound(sample, floor, alpha)).toBeCloseTo(expected, 7)
    }
  })

  it('is the floor when every observation is', () => {
    expect(meanLowerBound([-1, -1], -1, 0.05)).toBe(-1)
  })

  it('is dual to the test: what lies below it is rejected, what lies above is not', () => {
    fc.assert(
      fc.property(values, fc.constantFrom(0.05, 0.03, 0.001), (sample, alpha) => {
        const lower = meanLowerBound(sample, -1, alpha)
        expect(meanAbove(sample, -1, lower - 1e-6)).toBeLessThanOrEqual(alpha)
        fc.pre(lower < Math.max(...sample) - 1e-6)
        expect(meanAbove(sample, -1, lower + 1e-6)).toBeGreaterThan(alpha)
      }),
    )
  })
})
