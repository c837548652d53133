import { describe, expect, it } from 'vitest'
import { mixtureLogprobs, neighbourShares } from './mixture.ts'

// exp(−d / 2) relative to the nearest: 1, 1/2, 1/4.
const near = {
  distances: Float64Array.of(1, 1 + 2 * Math.log(2), 1 + 2 * Math.log(4)),
  tokens: Int32Array.of(7, 3, 7),
}

describe('the shares of the tokens that followed neighbours', () => {
  it('are Σ exp(−d / T) of each token over that of all', () => {
    const shares = neighbourShares(near, { neighbours: 3, temperature: 2 })
    expect([...shares.keys()]).toEqual([7, 3])
    expect(shares.get(7)).toBeCloseTo(5 / 7, 12)
    expect(shares.get(3)).toBeCloseTo(2 / 7, 12)
  })

  it('are of the k nearest alone, and of all where there are fewer', () => {
    expect(neighbourShares(near, { neighbours: 2, temperature: 2 }).get(7)).toBeCloseTo(2 / 3, 12)
    expect(neighbourShares(near, { neighbours: 99, temperature: 2 }).get(7)).toBeCloseTo(5 / 7, 12)
  })

  it('do not vanish where all entries are far away', () => {
    const far = { distances: near.distances.map((distance) => distance + 1e6), tokens: near.tokens }
    expect(neighbourShares(far, { neighbours: 3, temperature: 2 }).get(7)).toBeCloseTo(5 / 7, 6)
  })
})

describe('the log-probabilities of given tokens under the mixture', () => {
  const tokens = [3, 5]
  const logprobs = [Math.log(0.1), Math.log(0.4)]

  it('are λ · p_kNN + (1 − λ) · p_LM', () => {
    const found = mixtureLogprobs(tokens, logprobs, [near, near], { weight: 0.5, neighbours: 3, temperature: 2 })
    expect(found[0]).toBeCloseTo(Math.log(0.5 * (2 / 7) + 0.5 * 0.1), 12)
    expect(found[1]).toBeCloseTo(Math.log(0.5 * 0.4), 12)
  })

  it('are the model exactly at λ = 0, and −∞ at λ = 1 for what no neighbour says', () => {
    const params = { neighbours: 3, temperature: 2 }
    expect([...mixtureLogprobs(tokens, logprobs, [near, near], { ...params, weight: 0 })]).toEqual(logprobs)
    expect(mixtureLogprobs(tokens, logprobs, [near, near], { ...params, weight: 1 })[1]).toBe(Number.NEGATIVE_INFINITY)
  })
})
