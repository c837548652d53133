import { describe, expect, it } from 'vitest'
import { fitLogistic, logit, sigmoid } from './logistic.ts'

// `src/reward/learned/numbers.test.ts` pins it to scikit-learn.
describe('logistic regression', () => {
  it('a regression without features is the share', () => {
    const data = { rows: [[], [], [], []], targets: [1, 0, 0, 1], counts: [3, 1, 1, 1] }
    expect(sigmoid(fitLogistic(data, 1).intercept)).toBeCloseTo(4 / 6, 9)
  })

  it('what can be separated ends, by its l2', () => {
    const fit = fitLogistic({ rows: [[-1], [1]], targets: [0, 1], counts: [1, 1] }, 1)
    // w = 1 − σ(w) twice: w = 2·(1 − σ(w)).
    const w = fit.weights[0] ?? NaN
    expect(w).toBeCloseTo(2 * (1 - sigmoid(w)), 9)
  })

  it('comes to the log-odds that the data have', () => {
    const rows = Array.from({ length: 60 }, (_, i) => [i < 30 ? 1 : 0])
    const targets = rows.map((_, i) => (i < 24 || (i >= 30 && i < 36) ? 1 : 0))
    const fit = fitLogistic({ rows, targets, counts: rows.map(() => 1) }, 0)
    expect(fit.intercept).toBeCloseTo(Math.log(0.2 / 0.8), 6)
    expect(sigmoid(logit(fit, [1]))).toBeCloseTo(0.8, 6)
  })
})
