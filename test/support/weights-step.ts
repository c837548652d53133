import { GroupId, type PolicySample, rng, type Trainer, VersionId, type WeightsStep } from '../../src/core/index.ts'
import { scriptedModel } from './scripted-model.ts'

/** What an optimizer of weights is given in one step. */
export function weightsStep(samples: readonly PolicySample[], trainer: Trainer, update = 0): WeightsStep {
  const version = VersionId.parse('v0')
  return {
    current: { version, value: { kind: 'weights', base: 'uniform', baseHash: 'uniform-content', adapter: null } },
    gradients: [{ parameter: 'model', version, deposits: samples }],
    trainer,
    update,
    sampler: scriptedModel(() => ['']).sampler,
    rng: rng('test'),
  }
}

/** Tokens that were read (above 0) and sampled (below 0), each sampled one with this log-probability and advantage. */
export function policySample(tokens: readonly number[], logprob = -1, advantage = 1): PolicySample {
  const sampled = tokens.map((token) => token < 0)
  return {
    group: GroupId.parse('g'),
    tokens: tokens.map(Math.abs),
    sampled,
    advantages: sampled.map((flag) => (flag ? advantage : 0)),
    behaviourLogprobs: sampled.map((flag) => (flag ? logprob : 0)),
    temperature: 1,
    truncated: false,
  }
}
