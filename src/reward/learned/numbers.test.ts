import { array, assert, boolean, double, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitLogistic } from '../../core/index.ts'
import { auc, brier, reliability } from './accuracy.ts'
import { calibrated, isotonic, platt } from './calibrate.ts'
import { boundsOf, studentQuantile } from './lower-bound.ts'
import vectors from './reward.vectors.json' with { type: 'json' }

const outcomes = ({ scores, accepted, counts }: { scores: number[]; accepted: number[]; counts?: number[] }) =>
  scores.map((score, i) => ({ score, accepted: accepted[i] === 1, count: counts?.[i] ?? 1 }))

describe('as scikit-learn and scipy have it', () => {
  it.each(vectors.logistic)('logistic regression, l2 = $l2', ({ l2, intercept, weights, ...data }) => {
    const fit = fitLogistic(data, l2)
    expect(fit.intercept).toBeCloseTo(intercept, 5)
    expect(fit.weights.length).toBe(weights.length)
    for (const [i, weight] of weights.entries()) expect(fit.weights[i]).toBeCloseTo(weight, 5)
  })

  it('Platt’s calibration', () => {
    const calibration = platt(outcomes(vectors.platt))
    for (const [i, score] of vectors.platt.at.entries()) {
      expect(calibrated(calibration, score)).toBeCloseTo(vectors.platt.told[i] ?? NaN, 4)
    }
  })

  it('isotonic regression', () => {
    const calibration = isotonic(outcomes(vectors.isotonic))
    for (const [i, score] of vectors.isotonic.at.entries()) {
      expect(calibrated(calibration, score)).toBeCloseTo(vectors.isotonic.told[i] ?? NaN, 10)
    }
  })

  it('Brier’s score and the area under the curve', () => {
    const { told, truth } = vectors.accuracy
    const predictions = told.map((one, i) => ({ told: one, truth: truth[i] ?? NaN }))
    expect(brier(predictions)).toBeCloseTo(vectors.accuracy.brier, 12)
    expect(auc(predictions)).toBeCloseTo(vectors.accuracy.auc, 12)
  })

  it.each(vectors.student)(
    'Student’s t at $probability with $degrees degrees',
    ({ probability, degrees, quantile }) => {
      expect(Math.abs(studentQuantile(probability, degrees) - quantile)).toBeLessThan(0.003)
    },
  )
})

describe('by hand', () => {
  it('a score that says the opposite of what is true is given no slope', () => {
    const reversed = outcomes({ scores: [1, 2, 3, 4], accepted: [1, 1, 0, 0] })
    expect(platt(reversed)).toMatchObject({ slope: 0 })
    expect(calibrated(platt(reversed), 9)).toBeCloseTo(0.5, 9)
    expect(isotonic(reversed)).toEqual({ kind: 'isotonic', scores: [1, 4], values: [0.5, 0.5] })
  })

  it('bounds of a mean', () => {
    // Mean 2, sd 1, n 4.
    const { mean, low, high } = boundsOf([1, 2, 2, 3], 0.05)
    const half = (studentQuantile(0.95, 3) * Math.sqrt(2 / 3)) / 2
    expect([mean, low, high]).toEqual([2, 2 - half, 2 + half])
  })

  it('a reliability table counts everyone once', () => {
    const table = reliability([0, 0.05, 0.95, 1].map((told) => ({ told, truth: told > 0.5 ? 1 : 0 })))
    expect(table.map(({ n }) => n)).toEqual([2, 0, 0, 0, 0, 0, 0, 0, 0, 2])
    expect(table[9]).toEqual({ from: 0.9, to: 1, n: 2, told: 0.975, truth: 1 })
    expect(table[1]).toMatchObject({ told: null, truth: null })
  })

  it('one class alone tells no area', () => {
    expect(auc([{ told: 0.3, truth: 1 }])).toBeNull()
  })
})

describe('whatever the outcomes', () => {
  const some = array(
    record({
      score: double({ min: -9, max: 9, noNaN: true }),
      accepted: boolean(),
      count: double({ min: 0.1, max: 3, noNaN: true }),
    }),
    {
      minLength: 1,
      maxLength: 30,
    },
  )
  it('a calibration lies in [0, 1] and never falls', () => {
    assert(
      property(
        some,
        double({ min: -20, max: 20, noNaN: true }),
        double({ min: 0, max: 20, noNaN: true }),
        (seen, at, more) => {
          for (const calibration of [platt(seen), isotonic(seen)]) {
            const [low, high] = [calibrated(calibration, at), calibrated(calibration, at + more)]
            expect(low >= 0 && high <= 1).toBe(true)
            expect(high).toBeGreaterThanOrEqual(low - 1e-12)
          }
        },
      ),
    )
  })

  it('the order of examples changes no fit', () => {
    const data = array(record({ x: integer({ min: -3, max: 3 }), y: boolean() }), { minLength: 2, maxLength: 12 })
    assert(
      property(data, (rows) => {
        const fitted = (of: typeof rows) =>
          fitLogistic(
            { rows: of.map(({ x }) => [x]), targets: of.map(({ y }) => (y ? 1 : 0)), counts: of.map(() => 1) },
            1,
          )
        const [a, b] = [fitted(rows), fitted(rows.toReversed())]
        expect(a.weights[0]).toBeCloseTo(b.weights[0] ?? NaN, 5)
      }),
    )
  })
})
