import { describe, expect, it } from 'vitest'
import { recorded, relativeError, unpack } from '../../../test/support/recorded.ts'
import { recordedStart, watchedTrainer } from '../../../test/support/watched-trainer.ts'
import { GroupId, type PolicySample, rng, VersionId } from '../../core/index.ts'
import { inProcessTrainer } from '../../../test/support/in-process-trainer.ts'
import { scriptedModel } from '../../../test/support/scripted-model.ts'
import { policyGradient } from './policy-gradient.ts'
import type { PolicyGradientOptions } from './policy-options.ts'

interface Through {
  readonly loss: number
  readonly old: readonly string[]
  readonly gradients: Readonly<Record<string, string>>
}
type Recorded = 'importance_sampling' | 'ppo' | 'dual_clip' | 'cispo' | 'gspo'
interface Vectors {
  readonly clipLow: number
  readonly clipHigh: number
  readonly sequenceLow: number
  readonly sequenceHigh: number
  readonly dualClip: number
  readonly kl: number
  readonly through: Readonly<Record<Recorded, Through>>
  readonly near: Readonly<Record<Recorded, Through>>
}
const vectors = recorded('policies') as Vectors
const setting = recorded('losses') as {
  readonly rank: number
  readonly alpha: number
  readonly temperature: number
  readonly data: readonly { readonly input: number[]; readonly target: number[]; readonly advantages: number[] }[]
}
const start = recordedStart(setting.rank, setting.alpha)
const { clipLow, clipHigh, dualClip } = vectors
const options: Readonly<Record<Recorded, PolicyGradientOptions>> = {
  importance_sampling: { loss: 'importance_sampling' },
  ppo: { loss: 'ppo', clipLow, clipHigh },
  dual_clip: { loss: 'ppo', clipLow, clipHigh, dualClip },
  cispo: { loss: 'cispo', clipLow, clipHigh },
  gspo: { loss: 'gspo', clipLow: vectors.sequenceLow, clipHigh: vectors.sequenceHigh },
}

/** The recorded data as samples: what carries an advantage was sampled. */
const samplesOf = ({ old }: Through): readonly PolicySample[] =>
  setting.data.map(({ input, target, advantages }, i) => ({
    group: GroupId.parse('g'),
    tokens: [...input, target.at(-1) ?? 0],
    advantages: [0, ...advantages],
    sampled: [false, ...advantages.map((advantage) => advantage !== 0)],
    behaviourLogprobs: [0, ...unpack(old[i] ?? '')],
    temperature: setting.temperature,
    truncated: false,
  }))

async function gradientOf(samples: readonly PolicySample[], given: PolicyGradientOptions) {
  const { trainer, gradients } = watchedTrainer(start)
  const version = VersionId.parse('v0')
  const { metrics } = await policyGradient({ normalise: 'sequence', ...given }).step({
    current: { version, value: { kind: 'weights', base: 'b', baseHash: 'h', adapter: null } },
    gradients: [{ parameter: 'model', version, deposits: samples }],
    trainer,
    update: 0,
    sampler: scriptedModel(() => ['']).sampler,
    rng: rng('test'),
  })
  return { gradient: gradients[0] ?? new Float32Array(), metrics }
}

/** The base model, whose adapter adds nothing: its second halves are 0. */
function baseModel() {
  return inProcessTrainer({ model: start.model, trained: start.trained }).trainer
}

const kinds = Object.keys(options) as Recorded[]
const packed = ({ gradients }: Through) => start.names.flatMap((name) => [...unpack(gradients[name] ?? '')])

describe.each(kinds)('%s, through the model', (kind) => {
  it('has the loss and the gradient of PyTorch', async () => {
    const expected = vectors.through[kind]
    const { gradient, metrics } = await gradientOf(samplesOf(expected), options[kind])
    expect(metrics['loss']).toBeCloseTo(expected.loss, 5)
    expect(relativeError(gradient, packed(expected))).toBeLessThan(2e-5)
  })

  it('and so has the KL to a reference beside it', async () => {
    const expected = vectors.near[kind]
    const kl = { reference: baseModel(), weight: vectors.kl, in: 'loss' } as const
    const { gradient, metrics } = await gradientOf(samplesOf(expected), { ...options[kind], kl })
    expect(metrics['loss']).toBeCloseTo(expected.loss, 5)
    expect(relativeError(gradient, packed(expected))).toBeLessThan(2e-5)
    // What it cost is the difference that it made.
    expect(expected.loss - vectors.through[kind].loss).toBeGreaterThan(0)
    expect(metrics['referenceKl']).toBeGreaterThan(0)
  })
})
