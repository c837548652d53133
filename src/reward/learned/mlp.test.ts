import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rng, sigmoid } from '../../core/index.ts'
import type { JudgedExample } from './example.ts'
import { acceptance, fitRewardModel, RewardModel } from './index.ts'
import { activations, fitMlp, mlpSlope } from './mlp.ts'

describe('a network with a hidden layer', () => {
  it('has the loss that it has by hand', () => {
    // One unit of one input: tanh(0.1 + 0.5·2) = 0.8005, z = −0.2 + 1.5·0.8005 = 1.0007.
    const at = Float64Array.from([0.1, 0.5, -0.2, 1.5])
    const on = Math.tanh(1.1)
    const z = -0.2 + 1.5 * on
    const { loss, gradient } = mlpSlope({ rows: [[2]], targets: [1], counts: [3] }, at, { units: 1, l2: 0.2 })
    expect(loss).toBeCloseTo(-3 * Math.log(sigmoid(z)) + 0.1 * (0.5 ** 2 + 1.5 ** 2), 12)
    const off = 3 * (sigmoid(z) - 1)
    const back = off * 1.5 * (1 - on ** 2)
    expect([...gradient]).toEqual(
      [back, back * 2 + 0.2 * 0.5, off, off * on + 0.2 * 1.5].map((one) => expect.closeTo(one, 12) as number),
    )
    expect(activations([[0.1, 0.5]], [2])).toEqual([expect.closeTo(on, 12)])
  })

  it('has the slope that finite differences have', () => {
    const shapes = fc.record({
      seed: fc.nat(),
      units: fc.integer({ min: 1, max: 4 }),
      inputs: fc.nat(4),
      n: fc.integer({ min: 1, max: 6 }),
      l2: fc.double({ min: 0, max: 2, noNaN: true }),
    })
    fc.assert(
      fc.property(shapes, ({ seed, units, inputs, n, l2 }) => {
        const random = rng('mlp', seed)
        const some = (length: number) => Array.from({ length }, () => 2 * random.next() - 1)
        const rows = Array.from({ length: n }, () => some(inputs))
        const data = { rows, targets: some(n).map((one) => (one + 1) / 2), counts: some(n).map((one) => one + 1.5) }
        const at = Float64Array.from(some(units * (inputs + 1) + 1 + units))
        const { gradient } = mlpSlope(data, at, { units, l2 })
        for (const [i, slope] of gradient.entries()) {
          const moved = (by: number) => {
            const there = at.slice()
            there[i] = (there[i] ?? 0) + by
            return mlpSlope(data, there, { units, l2 }).loss
          }
          expect((moved(1e-5) - moved(-1e-5)) / 2e-5).toBeCloseTo(slope, 5)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('comes to what no line tells apart, and to the same again', () => {
    const rows = [
      [1, 1],
      [-1, -1],
      [1, -1],
      [-1, 1],
    ]
    const data = { rows, targets: [1, 1, 0, 0], counts: [5, 5, 5, 5] }
    const fit = () => fitMlp(data, { units: 4, l2: 0.01, rng: rng('xor') })
    const { hidden, intercept, weights } = fit()
    const chances = rows.map((row) =>
      sigmoid(activations(hidden, row).reduce((sum, on, k) => sum + on * (weights[k] ?? 0), intercept)),
    )
    expect(chances.map(Math.round)).toEqual([1, 1, 0, 0])
    expect(fit()).toEqual({ hidden, intercept, weights })
  })
})

describe('a reward model with a hidden layer', () => {
  /** Accepted is where both features are of one sign: neither alone tells anything. */
  function world(noise: number): JudgedExample[] {
    const random = rng('mlp-world')
    return Array.from({ length: 400 }, (_, i) => {
      const features = [random.next() - 0.5, random.next() - 0.5]
      const truth = (features[0] ?? 0) * (features[1] ?? 0) > 0
      return { subject: `s${i % 40}`, features, accepted: random.next() < noise ? !truth : truth }
    })
  }
  const options = { features: 'two', hidden: 8 }

  it('knows what depends on features together, which a regression does not', () => {
    expect(fitRewardModel(world(0.1), { features: 'two' }).status).toBe('refused')
    const fitted = fitRewardModel(world(0.1), options)
    if (fitted.status !== 'fitted') throw new Error(fitted.reason)
    expect(acceptance(fitted.model, [0.4, 0.4])).toBeGreaterThan(0.75)
    expect(acceptance(fitted.model, [0.4, -0.4])).toBeLessThan(0.25)
    expect(RewardModel.parse(JSON.parse(JSON.stringify(fitted.model)))).toEqual(fitted.model)
    expect(() => acceptance(fitted.model, [1])).toThrow(expect.objectContaining({ code: 'reward/bad-features' }))
  })

  it('is refused on noise, however many units it has', () => {
    for (const hidden of [2, 8])
      expect(fitRewardModel(world(0.5), { ...options, hidden })).toMatchObject({ status: 'refused' })
  })

  it('refuses a layer that cannot be', () => {
    for (const hidden of [-1, 65, 0.5])
      expect(() => fitRewardModel(world(0.1), { ...options, hidden })).toThrow(
        expect.objectContaining({ code: 'input/invalid' }),
      )
  })
})
