import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GroupId, type PolicySample } from '../../core/index.ts'
import { klSlopes, requireKl, withKlPenalty } from './reference.ts'

const sampleOf = (behaviour: readonly number[], advantage: number): PolicySample => ({
  group: GroupId.parse('g'),
  tokens: [0, ...behaviour.map(() => 1)],
  advantages: [0, ...behaviour.map(() => advantage)],
  behaviourLogprobs: [0, ...behaviour],
  sampled: [false, ...behaviour.map(() => true)],
  temperature: 1,
  truncated: false,
})

describe('KL in the reward', () => {
  // d = lp − lp_ref: 1, 2 and 3, and −1.
  const samples = [sampleOf([-1, -1, -1], 1), sampleOf([-2], -1)]
  const reference = [[-2, -3, -4], [-1]]
  const advantages = (discount: number) =>
    withKlPenalty(samples, reference, { weight: 0.1, discount }).samples.map((one) => one.advantages)

  it('charges each token for itself and what follows, off a baseline', () => {
    // G = 6, 5, 3 and −1, mean 3.25.
    expect(advantages(1)).toEqual([
      [0, 1 - 0.275, 1 - 0.175, 1 + 0.025].map((value) => expect.closeTo(value, 12) as number),
      [0, expect.closeTo(-1 + 0.425, 12)],
    ])
  })

  it('or for itself alone', () => {
    // d − 1.25.
    expect(advantages(0)).toEqual([
      [0, 1 + 0.025, 1 - 0.075, 1 - 0.175].map((value) => expect.closeTo(value, 12) as number),
      [0, expect.closeTo(-1 + 0.225, 12)],
    ])
  })

  it('tells the mean divergence, and what carries no loss pays nothing', () => {
    const { metrics } = withKlPenalty(samples, reference, { weight: 0.1 })
    expect(metrics['referenceKl']).toBeCloseTo(5 / 4, 12)
    const silent = { ...sampleOf([-1, -1], 1), sampled: [false, true, false] }
    const [found] = withKlPenalty([silent], [[-2, -9]], { weight: 1 }).samples
    expect(found?.advantages).toEqual([0, 1, 1])
  })
})

describe('KL in the loss', () => {
  it('is k3, with its slope', () => {
    // d = log 2: k3 = 2 − log 2 − 1, slope 1 − 2.
    const { loss, slopes } = klSlopes([-1, -1, -1], [-1 + Math.log(2), -1, -5], [true, true, false], 0.5)
    expect(loss).toBeCloseTo(0.5 * (1 - Math.log(2)), 12)
    expect(slopes).toEqual([expect.closeTo(-0.5, 12), expect.closeTo(0, 12), 0])
  })

  it('is never below 0, and its slope that of finite differences', () => {
    const logprob = fc.double({ min: -4, max: 0, noNaN: true })
    fc.assert(
      fc.property(logprob, logprob, (own, other) => {
        const at = (lp: number) => klSlopes([lp], [other], [true], 2)
        expect(at(own).loss).toBeGreaterThanOrEqual(0)
        expect(at(own).slopes[0]).toBeCloseTo((at(own + 1e-5).loss - at(own - 1e-5).loss) / 2e-5, 3)
      }),
    )
  })

  it('has, on policy, the mean gradient of KL(reference ‖ policy)', () => {
    // Over three tokens with softmax logits z: dKL(ref ‖ π)/dz_j = π_j − ref_j, and d lp_i/dz_j = [i = j] − π_j.
    const [policy, reference] = [
      [0.5, 0.3, 0.2],
      [0.2, 0.2, 0.6],
    ]
    const { slopes } = klSlopes(policy.map(Math.log), reference.map(Math.log), [true, true, true], 1)
    const mean = [0, 1, 2].map((j) =>
      policy.reduce((sum, p, i) => sum + p * (slopes[i] ?? 0) * ((i === j ? 1 : 0) - (policy[j] ?? 0)), 0),
    )
    mean.forEach((slope, j) => expect(slope).toBeCloseTo((policy[j] ?? 0) - (reference[j] ?? 0), 12))
  })
})

const reference = { forward: () => Promise.resolve([]) }
it.each([
  { weight: 0, in: 'loss' },
  { weight: Number.NaN, in: 'reward' },
  { weight: 1, in: 'reward', discount: 1.1 },
  { weight: 1, in: 'loss', discount: 0.5 },
] as const)('refuses %j', (options) => {
  expect(() => requireKl({ reference, ...options })).toThrow(expect.objectContaining({ code: 'optimize/bad-option' }))
})
