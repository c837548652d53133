import { expect, it } from 'vitest'
import { GroupId, type PolicySample } from '../../core/index.ts'
import { withTruncatedWeights } from './truncated.ts'

const sample: PolicySample = {
  group: GroupId.parse('g'),
  tokens: [0, 1, 2, 3, 4],
  advantages: [0, 1, -2, 0, 1],
  behaviourLogprobs: [0, -1, -1, 0, -1],
  sampled: [false, true, true, false, true],
  temperature: 1,
  truncated: false,
}

it('weighs each token by how much likelier the trainer finds it, up to the cap, and goes on from the trainer', () => {
  // Ratios 1/2, 3 and 1.5; the token between was not sampled.
  const logprobs = [[-1 - Math.log(2), -1 + Math.log(3), -7, -1 + Math.log(1.5)]]
  const { samples, metrics } = withTruncatedWeights([sample], logprobs, 2)
  expect(samples[0]?.advantages).toEqual([0, 0.5, -4, 0, 1.5].map((value) => expect.closeTo(value, 12) as number))
  expect(samples[0]?.behaviourLogprobs).toEqual([0, logprobs[0]?.[0], logprobs[0]?.[1], 0, logprobs[0]?.[3]])
  expect(metrics).toEqual({
    mismatchMean: expect.closeTo(5 / 3, 12),
    mismatchMax: expect.closeTo(3, 12),
    mismatchCutShare: 1 / 3,
  })
})

it('changes nothing where the trainer is who sampled', () => {
  const { samples } = withTruncatedWeights([sample], [[-1, -1, -7, -1]], 2)
  expect(samples).toEqual([sample])
})

it('tells nothing of what was not sampled', () => {
  const silent = { ...sample, sampled: sample.sampled.map(() => false) }
  expect(withTruncatedWeights([silent], [[-1, -1, -1, -1]], 2).metrics).toEqual({})
})
