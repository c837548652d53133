import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PolicyLoss } from './losses/index.ts'
import { Ratios } from './ratios.ts'

const ppo: PolicyLoss = { kind: 'ppo', clipLow: 0.8, clipHigh: 1.2 }
/** One sequence whose tokens have these ratios, each with this advantage. */
const withRatios = (ratios: readonly number[], advantage = 1) => {
  const data = [
    {
      input: ratios.map(() => 0),
      target: ratios.map(() => 0),
      logprobs: ratios.map(() => -2),
      advantages: ratios.map(() => advantage),
    },
  ]
  return { data, logprobs: [ratios.map((ratio) => -2 + Math.log(ratio))] }
}
const k3 = (ratio: number) => ratio - 1 - Math.log(ratio)

describe('the divergence from the policy that sampled', () => {
  it('is the k3 estimate, ρ − 1 − log ρ, a token', () => {
    const ratios = new Ratios()
    const { data, logprobs } = withRatios([1, 2, 0.5])
    // 0, 1 − ln 2 and ln 2 − ½: together a half.
    expect(ratios.add(data, logprobs, ppo)).toBeCloseTo(0.5 / 3, 12)
    expect(ratios.metrics()['kl']).toBeCloseTo(0.5 / 3, 12)
  })

  it('is told for each batch, and kept over all of their tokens', () => {
    const ratios = new Ratios()
    const [fresh, stale] = [withRatios([1, 1, 1]), withRatios([Math.E])]
    expect(ratios.add(fresh.data, fresh.logprobs, ppo)).toBeCloseTo(0, 12)
    expect(ratios.add(stale.data, stale.logprobs, ppo)).toBeCloseTo(Math.E - 2, 12)
    expect(ratios.metrics()['kl']).toBeCloseTo((Math.E - 2) / 4, 12)
  })

  it('is 0 where no token entered the loss, and then nothing is told', () => {
    const ratios = new Ratios()
    const { data, logprobs } = withRatios([3, 4], 0)
    expect(ratios.add(data, logprobs, ppo)).toBe(0)
    expect(ratios.metrics()).toEqual({})
  })

  it('is never below 0, and the mean of its tokens', () => {
    const ratio = fc.double({ min: 0.01, max: 50, noNaN: true })
    fc.assert(
      fc.property(fc.array(ratio, { minLength: 1, maxLength: 20 }), (values) => {
        const { data, logprobs } = withRatios(values)
        const kl = new Ratios().add(data, logprobs, ppo)
        expect(kl).toBeGreaterThanOrEqual(-1e-12)
        expect(kl).toBeCloseTo(values.reduce((sum, value) => sum + k3(value), 0) / values.length, 9)
      }),
    )
  })
})

it('counts ratios outside of the bounds of the loss, and what the batch is worth', () => {
  const ratios = new Ratios()
  const { data, logprobs } = withRatios([1, 0.5, 3])
  ratios.add(data, logprobs, ppo)
  expect(ratios.metrics()).toMatchObject({
    ratioMean: expect.closeTo(1.5, 12) as number,
    ratioMax: expect.closeTo(3, 12) as number,
    clippedShare: 2 / 3,
    effectiveShare: expect.closeTo(4.5 ** 2 / (3 * 10.25), 12) as number,
  })
})

it('of a loss of whole sequences counts all tokens of one whose ratio is outside', () => {
  // The geometric means are √(3 · 1/3) = 1 and √(2 · 1) = 1.41.
  const gspo: PolicyLoss = { kind: 'gspo', clipLow: 0.8, clipHigh: 1.2 }
  const ratios = new Ratios()
  for (const { data, logprobs } of [withRatios([3, 1 / 3]), withRatios([2, 1])]) ratios.add(data, logprobs, gspo)
  expect(ratios.metrics()['clippedShare']).toBe(2 / 4)
})
