import { normalCdf, normalQuantile } from '../core/index.ts'
import { describe, expect, it } from 'vitest'
import vectors from './gate.vectors.json' with { type: 'json' }
import { pairedInterval, wilson } from './interval.ts'

describe('wilson', () => {
  it('is 1/(1 + z²) at the lower end of one success of one, worked by hand with z = 1.96', () => {
    const [lower, upper] = wilson(1, 1, 0.95)
    expect(lower).toBeCloseTo(1 / (1 + 1.959963984540054 ** 2), 10)
    expect(upper).toBe(1)
  })

  it.each(vectors.wilson)('%i of %i at %d (statsmodels)', (successes, n, level, lower, upper) => {
    const interval = wilson(successes, n, level)
    expect(interval[0]).toBeCloseTo(lower, 10)
    expect(interval[1]).toBeCloseTo(upper, 10)
  })

  it('knows nothing without trials', () => {
    expect(wilson(0, 0, 0.95)).toEqual([0, 1])
  })

  it.each([
    [3, 2, 0.95],
    [-1, 2, 0.95],
    [0.5, 2, 0.95],
    [1, 2, 95],
  ])('refuses %d of %d at level %d', (successes, n, level) => {
    expect(() => wilson(successes, n, level)).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/^gate\//) }),
    )
  })
})

describe('pairedInterval', () => {
  it('mirrors: swapping the arms swaps the ends and their signs', () => {
    const differences = [1, 0, 0, -1, 1, 1, 0.5, -0.25]
    const [lower, upper] = pairedInterval(differences, 1, 0.9)
    const mirrored = pairedInterval(
      differences.map((d) => -d),
      1,
      0.9,
    )
    expect(mirrored[0]).toBeCloseTo(-upper, 7)
    expect(mirrored[1]).toBeCloseTo(-lower, 7)
    expect(lower).toBeLessThan(0.28125)
    expect(upper).toBeGreaterThan(0.28125)
  })

  it('is wider at a higher level, and never leaves the span', () => {
    const differences = [1, 1, 0, 1]
    const [narrow, wide] = [pairedInterval(differences, 1, 0.8), pairedInterval(differences, 1, 0.99)]
    expect(wide[0]).toBeLessThan(narrow[0])
    expect(wide[1]).toBeGreaterThanOrEqual(narrow[1])
    expect(wide[1]).toBeLessThanOrEqual(1)
  })

  it('is Clopper and Pearson, stretched to [-1, 1], when there are no ties', () => {
    // A mean of −1/+1 values is 2p − 1, and p has the Clopper–Pearson interval: 3 of 10 at one-sided 0.05.
    const differences = Array.from({ length: 10 }, (_, i) => (i < 3 ? 1 : -1))
    const lower = vectors.clopperPearson.find(([k, n]) => k === 3 && n === 10)?.[3] ?? Number.NaN
    expect(pairedInterval(differences, 1, 0.9)[0]).toBeCloseTo(2 * lower - 1, 7)
  })

  it('refuses a difference that the range of rewards does not admit, and one that is not a number', () => {
    expect(() => pairedInterval([0, 1.5], 1, 0.9)).toThrow(/1\.5/)
    expect(() => pairedInterval([0, Number.NaN], 1, 0.9)).toThrow(/NaN/)
  })
})

describe('normal', () => {
  it.each(vectors.quantile)('quantile of %d (scipy)', (probability, z) => {
    expect(normalQuantile(probability)).toBeCloseTo(z, 8)
    expect(normalCdf(z)).toBeCloseTo(probability, 12)
  })
})
