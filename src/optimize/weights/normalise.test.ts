import { describe, expect, it } from 'vitest'
import { GroupId, type PolicySample, TrajectoryId } from '../../core/index.ts'
import { normalised, requireNormalisation } from './normalise.ts'

const sampleOf = (tokens: number, episode?: string): PolicySample => ({
  group: GroupId.parse('g'),
  ...(episode !== undefined && { trajectory: TrajectoryId.parse(episode) }),
  tokens: Array.from({ length: tokens + 1 }, () => 0),
  advantages: Array.from({ length: tokens + 1 }, (_, t) => (t === 0 ? 0 : 1)),
  behaviourLogprobs: Array.from({ length: tokens + 1 }, () => 0),
  sampled: Array.from({ length: tokens + 1 }, (_, t) => t > 0),
  temperature: 1,
  truncated: false,
})

describe('samples of 2, 4 and 6 tokens', () => {
  const batch = [sampleOf(2), sampleOf(4), sampleOf(6)]
  it('a token is a twelfth of all', () => expect(normalised(batch, 'token')).toEqual([1 / 12, 1 / 12, 1 / 12]))
  it('each sequence is a third', () => expect(normalised(batch, 'sequence')).toEqual([1 / 6, 1 / 12, 1 / 18]))
  it('a constant length is the same for all', () =>
    expect(normalised(batch, { constant: 10 })).toEqual([1 / 30, 1 / 30, 1 / 30]))
})

it('branches of one episode are one sequence', () => {
  const batch = [sampleOf(2, 'a'), sampleOf(6, 'a'), sampleOf(4, 'b')]
  expect(normalised(batch, 'sequence')).toEqual([1 / 16, 1 / 16, 1 / 8])
  expect(normalised(batch, { constant: 5 })).toEqual([1 / 10, 1 / 10, 1 / 10])
})

it('an episode without a sampled token is not there', () => {
  expect(normalised([sampleOf(0), sampleOf(2)], 'sequence')[1]).toBe(1 / 2)
  expect(normalised([sampleOf(0), sampleOf(2)], { constant: 4 })[1]).toBe(1 / 4)
})

it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('a constant of %s is no length', (constant) => {
  expect(() => requireNormalisation({ constant })).toThrow(expect.objectContaining({ code: 'optimize/bad-option' }))
})
