import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beliefIn } from './belief.ts'
import { chancesOf } from './chances.ts'
import vectors from './choice.vectors.json' with { type: 'json' }
import { choice, type ChoiceOptions } from './choice.ts'
import { type ChoicePolicy, ChoiceValue, type Quality } from './value.ts'

const valueOf = (options: ChoiceOptions, change: Partial<ChoiceValue> = {}): ChoiceValue =>
  ChoiceValue.parse({ ...ChoiceValue.parse(choice(options).initial(() => '')), ...change })

/** A choice whose options have these qualities and costs. */
const withQualities = (
  qualities: readonly Quality[],
  policy: ChoicePolicy,
  { costs = [], features = 0, ...change }: Partial<ChoiceValue> & { readonly costs?: readonly number[] } = {},
) => {
  const options = qualities.map((quality, i) => ({ name: `o${i}`, cost: costs[i] ?? 0, safe: i === 0, quality }))
  const shape = valueOf({ options: options.map(({ name }) => name), features, explore: 0 })
  return ChoiceValue.parse({ ...shape, options, policy, ...change })
}

const scored = (weights: readonly number[], change: Partial<ChoiceValue> = {}) =>
  valueOf(
    { options: weights.map((_, i) => `o${i}`), explore: 0 },
    { policy: { by: 'softmax', hidden: null, weights: weights.map((w) => [w]) }, ...change },
  )

describe('a softmax policy', () => {
  it('gives chances in proportion to e to the scores, worked by hand', () => {
    const [first, second] = chancesOf(scored([0, Math.log(3)]), []).chances
    expect(first).toBeCloseTo(0.25, 12)
    expect(second).toBeCloseTo(0.75, 12)
    const linear = valueOf(
      { options: ['a', 'b'], features: 1, explore: 0 },
      {
        policy: {
          by: 'softmax',
          hidden: null,
          weights: [
            [2, 0],
            [0, Math.log(2)],
          ],
        },
      },
    )
    const { chances } = chancesOf(linear, [Math.log(3) / 2])
    expect(chances[0]).toBeCloseTo(3 / 5, 12)
  })

  it('reads features through a hidden layer of tanh', () => {
    const value = valueOf(
      { options: ['a', 'b'], features: 1, explore: 0 },
      {
        policy: {
          by: 'softmax',
          hidden: [[1, 0]],
          weights: [
            [1, 0],
            [0, 0],
          ],
        },
      },
    )
    const z = Math.exp(Math.tanh(0.5))
    expect(chancesOf(value, [0.5]).chances[0]).toBeCloseTo(z / (z + 1), 12)
  })

  it('shares `explore` out evenly', () => {
    const { chances } = chancesOf(scored([0, Math.log(3)], { explore: 0.2 }), [])
    expect(chances[0]).toBeCloseTo(0.8 * 0.25 + 0.1, 12)
    expect(chances[1]).toBeCloseTo(0.8 * 0.75 + 0.1, 12)
  })

  it('is permuted with its options, and unmoved by a shift of all scores', () => {
    const scores = fc.array(fc.double({ min: -30, max: 30, noNaN: true }), { minLength: 2, maxLength: 6 })
    fc.assert(
      fc.property(scores, fc.double({ min: -5, max: 5, noNaN: true }), (given, shift) => {
        const { chances } = chancesOf(scored(given, { explore: 0.1 }), [])
        const reversed = chancesOf(scored(given.toReversed(), { explore: 0.1 }), []).chances.toReversed()
        const shifted = chancesOf(
          scored(
            given.map((score) => score + shift),
            { explore: 0.1 },
          ),
          [],
        ).chances
        for (const [i, chance] of chances.entries()) {
          expect(reversed[i]).toBeCloseTo(chance, 9)
          expect(shifted[i]).toBeCloseTo(chance, 9)
        }
        expect(chances.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9)
      }),
    )
  })
})

describe('thompson sampling', () => {
  it.each(vectors.betas)(
    'Beta $counts at costs $costs is the best as often as scipy says',
    ({ counts, costs, best }) => {
      const qualities = counts.map(([alpha = 0, beta = 0]) => ({ alpha, beta }))
      const { chances } = chancesOf(withQualities(qualities, { by: 'thompson' }, { costs }), [])
      for (const [i, chance] of best.entries()) expect(chances[i]).toBeCloseTo(chance, 3)
    },
  )

  it.each(vectors.normals)('Gaussians about $means at costs $costs, too', ({ means, deviations, costs, best }) => {
    // At x = 0 only the intercept counts: A = noise²/s² there, and b = A·m.
    const qualities = means.map((mean, i) => {
      const precision = 0.25 / (deviations[i] ?? 1) ** 2
      return {
        precision: [
          [1, 0],
          [0, precision],
        ],
        moments: [0, precision * mean],
      }
    })
    const { chances } = chancesOf(withQualities(qualities, { by: 'thompson' }, { costs, features: 1 }), [0])
    for (const [i, chance] of best.entries()) expect(chances[i]).toBeCloseTo(chance, 2)
  })

  it('is permuted with its options', () => {
    const count = fc.record({ alpha: fc.integer({ min: 1, max: 60 }), beta: fc.integer({ min: 1, max: 60 }) })
    fc.assert(
      fc.property(fc.array(count, { minLength: 2, maxLength: 4 }), (qualities) => {
        const { chances } = chancesOf(withQualities(qualities, { by: 'thompson' }), [])
        const reversed = chancesOf(withQualities(qualities.toReversed(), { by: 'thompson' }), []).chances
        for (const [i, chance] of reversed.toReversed().entries()) expect(chance).toBeCloseTo(chances[i] ?? 0, 9)
      }),
      { numRuns: 20 },
    )
  })
})

describe('an upper confidence bound', () => {
  it('takes the option that may bring the most, costs taken off', () => {
    // Means 0.5 and 0.6; deviations √(1/12) and √(6·4/(100·11)), about 0.289 and 0.148.
    const qualities = [
      { alpha: 1, beta: 1 },
      { alpha: 6, beta: 4 },
    ]
    const taken = (width: number, costs: readonly number[] = []) =>
      chancesOf(withQualities(qualities, { by: 'ucb', width }, { costs }), []).chances
    expect(taken(0)).toEqual([0, 1])
    expect(taken(1)).toEqual([1, 0])
    expect(taken(1, [0.05, 0])).toEqual([0, 1])
  })
})

describe('what is believed with features', () => {
  it('is the regression that numpy computes', () => {
    const { seen, asked, noise, mean, deviation } = vectors.regression
    const rows = seen.map(({ features, quality }) => ({ x: [...features, 1], quality }))
    const sum = (i: number, j: number) => rows.reduce((all, { x }) => all + (x[i] ?? 0) * (x[j] ?? 0), Number(i === j))
    const quality = {
      precision: [0, 1, 2].map((i) => [0, 1, 2].map((j) => sum(i, j))),
      moments: [0, 1, 2].map((i) => rows.reduce((all, row) => all + row.quality * (row.x[i] ?? 0), i === 2 ? 0.5 : 0)),
    }
    const belief = beliefIn({ range: [0, 1], noise }, quality, asked)
    expect(belief.mean).toBeCloseTo(mean, 12)
    expect(belief.deviation).toBeCloseTo(deviation, 12)
    const wider = beliefIn({ range: [-1, 3], noise }, quality, asked)
    expect(wider.mean).toBeCloseTo(4 * mean - 1, 12)
    expect(wider.below(-1 + 4 * 0.3)).toBeCloseTo(belief.below(0.3), 12)
  })
})

describe('a floor', () => {
  const good = { alpha: 95, beta: 5 }
  const bad = { alpha: 20, beta: 80 }
  const unknown = { alpha: 1, beta: 1 }
  const floor = { quality: 0.8, risk: 0.1 }

  it('bars what may be too bad, and what nobody knows yet, from every draw', () => {
    for (const policy of [
      { by: 'thompson' },
      { by: 'ucb', width: 9 },
      { by: 'fixed', option: 'o1' },
      { by: 'softmax', hidden: null, weights: [[0], [50], [50], [0]] },
    ] satisfies ChoicePolicy[]) {
      const value = withQualities([unknown, bad, unknown, good], policy, { floor, explore: 0.5 })
      const { chances, allowed } = chancesOf(value, [])
      expect(allowed).toEqual([true, false, false, true])
      expect([chances[1], chances[2]]).toEqual([0, 0])
      expect((chances[0] ?? 0) + (chances[3] ?? 0)).toBeCloseTo(1, 9)
      expect(Math.min(chances[0] ?? 0, chances[3] ?? 0)).toBeGreaterThan(0.2)
    }
  })

  it('goes by quality before costs', () => {
    const value = withQualities([unknown, good], { by: 'thompson' }, { floor, costs: [0, 0.9] })
    expect(chancesOf(value, []).allowed).toEqual([true, true])
  })

  it('goes by the features of each choice', () => {
    const byFeature = {
      precision: [
        [500, 0],
        [0, 500],
      ],
      moments: [250, 250],
    }
    const value = withQualities([byFeature, byFeature], { by: 'thompson' }, { floor, features: 1 })
    expect(chancesOf(value, [1]).allowed).toEqual([true, true])
    expect(chancesOf(value, [-1]).allowed).toEqual([true, false])
  })
})
