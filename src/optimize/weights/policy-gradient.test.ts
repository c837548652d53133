import { describe, expect, it } from 'vitest'
import { recordingTrainer } from '../../../test/support/recording-trainer.ts'
import { scriptedModel } from '../../../test/support/scripted-model.ts'
import { GroupId, type PolicySample, rng, VersionId, type WeightsStep } from '../../core/index.ts'
import { policyGradient } from './policy-gradient.ts'
import type { PolicyGradientOptions } from './policy-options.ts'

/** A sample of one context token and `acts` sampled ones, which name it. */
const sampleOf = (group: string, name: number, acts: number, advantage: number): PolicySample => {
  const sampled = [false, ...Array.from({ length: acts }, () => true)]
  return {
    group: GroupId.parse(group),
    tokens: sampled.map((act) => (act ? name : 0)),
    advantages: sampled.map((act) => (act ? advantage : 0)),
    behaviourLogprobs: sampled.map((act) => (act ? -Math.log(10) : 0)),
    sampled,
    temperature: 1,
    truncated: false,
  }
}

async function step(
  samples: readonly PolicySample[],
  options: PolicyGradientOptions = {},
  context: Partial<WeightsStep> = {},
) {
  const { trainer, passes } = recordingTrainer(10)
  const version = VersionId.parse('v0')
  const result = await policyGradient(options).step({
    current: { version, value: { kind: 'weights', base: 'uniform', baseHash: 'uniform-content', adapter: null } },
    gradients: [{ parameter: 'model', version, deposits: samples }],
    trainer,
    update: 0,
    sampler: scriptedModel(() => ['']).sampler,
    rng: rng('test'),
    ...context,
  })
  return { ...result, passes }
}

const batch = [sampleOf('a', 1, 2, 1), sampleOf('a', 2, 4, -1), sampleOf('b', 3, 3, 1), sampleOf('b', 4, 1, -1)]

it('averages over the sampled tokens of the batch: long samples do not count less a token', async () => {
  const { passes, metrics } = await step(batch)
  expect(passes.length).toBe(1)
  const advantages = passes[0]?.data.flatMap((datum) => datum.advantages ?? []) ?? []
  expect(advantages.length).toBe(10)
  for (const advantage of advantages) expect(Math.abs(advantage)).toBeCloseTo(1 / 10, 12)
  // On-policy: every ratio is 1, and the loss is −(2 − 4 + 3 − 1) / 10.
  expect(metrics.loss).toBeCloseTo(0, 12)
  expect((await step([sampleOf('a', 1, 2, 1), sampleOf('a', 2, 2, 3)])).metrics.loss).toBeCloseTo(-2, 12)
  expect(metrics).toMatchObject({ samples: 4, steps: 1, gradNorm: 2, tokens: 10, computed: 10 })
})

it('takes no step on what has no signal: momentum alone would move the weights', async () => {
  const silent = batch.map((sample) => ({ ...sample, advantages: sample.advantages.map(() => 0) }))
  const none = await step(silent)
  expect(none.passes).toEqual([])
  expect(none.metrics).toMatchObject({ steps: 0, silentSteps: 1, samples: 4, tokens: 0 })
  const half = await step([...silent.slice(0, 2), ...batch.slice(2)], { minibatches: 2 })
  expect(half.metrics).toMatchObject({ steps: 1, silentSteps: 1, gradNorm: 2 })
  expect(half.passes.flatMap(({ data }) => data)).toHaveLength(2)
  expect((await step(batch)).metrics).not.toHaveProperty('silentSteps')
})

it('a KL in the loss and auxiliary tasks are signal without advantages', async () => {
  const silent = batch.map((sample) => ({ ...sample, advantages: sample.advantages.map(() => 0) }))
  const { trainer: reference } = recordingTrainer(20)
  const near = await step(silent, { kl: { reference, weight: 0.1, in: 'loss' } })
  expect(near.metrics).toMatchObject({ steps: 1 })
})

it('refuses a batch in which several Versions of something else acted; of the weights themselves ratios tell', async () => {
  const [v0, v1] = [VersionId.parse('v0'), VersionId.parse('v1')]
  const acted = (model: VersionId, system: VersionId) =>
    batch.map((sample) => ({ ...sample, acted: { model: [model], system: [system] } }))
  await expect(step([...acted(v0, v0), ...acted(v0, v1)])).rejects.toMatchObject({ code: 'optimize/mixed-context' })
  await expect(step([...acted(v0, v0), ...acted(v1, v0), ...batch])).resolves.toMatchObject({
    metrics: { samples: 12 },
  })
})

it.each([
  [{}, { kind: 'ppo', clipLow: 0.8, clipHigh: 1.2, temperature: 1 }],
  [
    { loss: 'cispo', clipLow: 0.5, clipHigh: 4 },
    { kind: 'cispo', clipLow: 0.5, clipHigh: 4, temperature: 1 },
  ],
  [
    { loss: 'importance_sampling', clipLow: 0.5 },
    { kind: 'importance_sampling', temperature: 1 },
  ],
] as const)('%j trains with the loss %j', async (options, loss) => {
  expect((await step(batch, options)).passes[0]?.loss).toEqual(loss)
})

it('trains at the temperature that the samples were drawn at', async () => {
  const cool = batch.map((sample) => ({ ...sample, temperature: 0.7 }))
  expect((await step(cool)).passes[0]?.loss).toMatchObject({ temperature: 0.7 })
})

it.each([
  [{ clipLow: 1.2, clipHigh: 0.8 }],
  [{ clipLow: 1.5 }],
  [{ clipHigh: 0.5 }],
  [{ loss: 'cispo', clipLow: 4 }],
  [{ loss: 'cispo', clipLow: -1 }],
  [{ clipHigh: Number.NaN }],
] as const)('refuses the clip bounds %j before it learns anything', (options) => {
  expect(() => policyGradient(options)).toThrow(expect.objectContaining({ code: 'optimize/bad-option' }))
})

describe('tells how far the policy is from the one that sampled', () => {
  it('fresh samples have a ratio of 1', async () => {
    expect((await step(batch)).metrics).toMatchObject({
      ratioMean: expect.closeTo(1, 12),
      ratioMax: expect.closeTo(1, 12),
      clippedShare: 0,
      effectiveShare: expect.closeTo(1, 12),
    })
  })

  it('stale ones are clipped, and worth less', async () => {
    // The trainer gives every token 1/10. Of four tokens one was sampled with 1/30 and one with 1/5: ρ = 1, 1, 3, 1/2.
    const old = (name: number, probability: number) => ({
      ...sampleOf('a', name, 1, 1),
      behaviourLogprobs: [0, Math.log(probability)],
    })
    const stale = [sampleOf('a', 1, 2, 1), old(2, 1 / 30), old(3, 1 / 5)]
    const { metrics } = await step(stale, { loss: 'cispo', clipHigh: 2 })
    expect(metrics.ratioMean).toBeCloseTo(5.5 / 4, 9)
    expect(metrics.ratioMax).toBeCloseTo(3, 9)
    expect(metrics.clippedShare).toBe(1 / 4)
    expect(metrics.effectiveShare).toBeCloseTo(5.5 ** 2 / (4 * 11.25), 9)
    expect((await step(stale)).metrics.clippedShare).toBe(2 / 4)
    expect((await step(stale, { loss: 'importance_sampling' })).metrics.clippedShare).toBe(0)
  })

  it('counts no token that carries no advantage', async () => {
    const silent = { ...sampleOf('a', 9, 3, 0), behaviourLogprobs: [0, -9, -9, -9] }
    expect((await step([...batch, silent])).metrics.ratioMax).toBeCloseTo(1, 12)
    expect((await step([silent])).metrics).not.toHaveProperty('ratioMax')
  })
})

describe('refuses what a trainer cannot reproduce (invariant 2)', () => {
  const [first, ...rest] = batch
  it.each([
    ['samples cut by top-k, top-p or a grammar', { truncated: true }, 'optimize/truncated-samples'],
    ['greedy samples', { temperature: 0 }, 'optimize/truncated-samples'],
    ['samples at two temperatures', { temperature: 0.5 }, 'optimize/mixed-temperatures'],
  ])('%s', async (_, change, code) => {
    const odd = { ...(first ?? batch[0]), ...change } as PolicySample
    await expect(step([...rest, odd])).rejects.toMatchObject({ code })
  })
})

describe('minibatches', () => {
  const many = Array.from({ length: 7 }, (_, g) => [0, 1, 2].map((i) => sampleOf(`g${g}`, 3 * g + i, 1, 1))).flat()
  const namesOf = (passes: Awaited<ReturnType<typeof step>>['passes']) =>
    passes.map(({ data }) => data.map(({ target }) => target[0] ?? 0))

  it('use each sample once, and keep groups together', async () => {
    const batches = namesOf((await step(many, { minibatches: 3 })).passes)
    expect(batches.map((names) => names.length).toSorted((a, b) => a - b)).toEqual([6, 6, 9])
    expect(batches.flat().toSorted((a, b) => a - b)).toEqual(many.map((_, i) => i))
    for (const names of batches) {
      const groups = names.map((name) => Math.floor(name / 3))
      for (const group of groups) expect(groups.filter((g) => g === group).length).toBe(3)
    }
  })

  it('are each normalised by their own tokens', async () => {
    const { passes } = await step(many, { minibatches: 3 })
    for (const { data } of passes) {
      const total = data.flatMap(({ advantages = [] }) => advantages).reduce((sum, a) => sum + a, 0)
      expect(total).toBeCloseTo(1, 12)
    }
  })

  it('are dealt by the generator, and no more of them are made than there are groups', async () => {
    const dealt = namesOf((await step(many, { minibatches: 3 })).passes)
    expect(namesOf((await step(many, { minibatches: 3 })).passes)).toEqual(dealt)
    expect(namesOf((await step(many, { minibatches: 3 }, { rng: rng('other') })).passes)).not.toEqual(dealt)
    expect((await step(batch, { minibatches: 9 })).passes.length).toBe(2)
  })

  it.each([0, -1, 1.5, Number.NaN])('cannot be %s', (minibatches) => {
    expect(() => policyGradient({ minibatches })).toThrow(`minibatches is ${minibatches}`)
  })
})

it('the learning rate warms up linearly over the run’s updates', async () => {
  const rateAt = async (update: number, warmupUpdates = 4) =>
    (await step(batch, { learningRate: 0.8, warmupUpdates }, { update })).passes[0]?.adam.learningRate
  expect(await Promise.all([0, 1, 3, 4, 100].map((update) => rateAt(update)))).toEqual([0.2, 0.4, 0.8, 0.8, 0.8])
  expect(await rateAt(0, 0)).toBe(0.8)
})

it('the learning rate falls linearly, and never to nothing', async () => {
  const rateAt = async (update: number) =>
    (await step(batch, { learningRate: 1, decayUpdates: 10 }, { update })).passes[0]?.adam.learningRate
  expect(await Promise.all([0, 4, 9, 10, 99].map(rateAt))).toEqual([1, 0.6, expect.closeTo(0.1), 0.05, 0.05])
})

it('takes no step without samples, or without sampled tokens', async () => {
  const still = { samples: 0, steps: 0, loss: 0, gradNorm: 0, tokens: 0, computed: 0 }
  const empty = await step([])
  expect([empty.passes, empty.metrics]).toEqual([[], still])
  const silent = await step([sampleOf('a', 1, 0, 1)])
  expect([silent.passes, silent.metrics]).toEqual([[], { ...still, samples: 1, rate: 3e-4 }])
})

describe('the size of a step', () => {
  const rates = ({ passes }: Awaited<ReturnType<typeof step>>) => passes.map(({ adam }) => adam.learningRate)
  const stale = (group: string, ratio: number) => ({
    ...sampleOf(group, 1, 1, 1),
    behaviourLogprobs: [0, -Math.log(10) - Math.log(ratio)],
  })
  // What a token of this ratio has moved.
  const moved = (ratio: number) => ratio - 1 - Math.log(ratio)

  it('is the learning rate times the pace', async () => {
    expect(rates(await step(batch, { learningRate: 0.8 }, { pace: 0.25 }))).toEqual([0.2])
    expect(rates(await step(batch, { learningRate: 0.8, warmupUpdates: 4 }, { pace: 0.5 }))).toEqual([0.1])
  })

  it('shrinks in proportion where the policy has moved further than the bound', async () => {
    const { passes, metrics } = await step([stale('a', 2)], { learningRate: 1, klBound: 0.1 })
    expect(passes[0]?.adam.learningRate).toBeCloseTo(0.1 / moved(2), 9)
    expect(metrics.rate).toBe(passes[0]?.adam.learningRate)
    expect(metrics.kl).toBeCloseTo(moved(2), 12)
  })

  it('has a bound of 0.05 where none is given', async () => {
    const [rate] = rates(await step([stale('a', 2)], { learningRate: 1 }))
    expect(rate).toBeCloseTo(0.05 / moved(2), 9)
  })

  it('is whole within the bound, and each step is bounded by its own minibatch', async () => {
    const samples = [stale('near', 1.1), stale('far', 3)]
    const both = rates(await step(samples, { learningRate: 1, minibatches: 2 }))
    expect(both.toSorted((a, b) => a - b)).toEqual([expect.closeTo(0.05 / moved(3), 9), 1])
  })
})

describe('losses that a trainer does not know', () => {
  it.each([
    [{ loss: 'gspo' }, 'importance_sampling'],
    [{ dualClip: 3 }, 'importance_sampling'],
    [{ kl: { reference: recordingTrainer().trainer, weight: 1, in: 'loss' } }, 'importance_sampling'],
    [{ kl: { reference: recordingTrainer().trainer, weight: 1, in: 'reward' } }, 'ppo'],
    [{ loss: 'cispo', mismatchCap: 2 }, 'cispo'],
  ] as const)('%j asks it for the loss %s alone', async (options, kind) => {
    expect(policyGradient(options).losses).toEqual([kind])
    expect((await step(batch, options)).passes.map(({ loss }) => loss.kind)).toEqual([kind])
  })

  it.each([
    [{ loss: 'cispo', dualClip: 3 }, 'The loss cispo has a dualClip'],
    [{ dualClip: 1.1 }, 'dualClip is 1.1 and clipHigh 1.2'],
    [{ mismatchCap: 0.5 }, 'mismatchCap is 0.5'],
    [{ loss: 'importance_sampling', strippedClipHigh: 1.6 }, 'has a strippedClipHigh'],
    [{ strippedClipHigh: 0.5 }, 'The clip bounds are 0.8 to 0.5'],
    [{ normalise: { constant: 0 } }, 'The constant length is 0'],
  ] as const)('%j is refused', (options, message) => {
    expect(() => policyGradient(options)).toThrow(message)
  })

  it('are each normalised as it is said: by tokens, by sequences, by a constant length', async () => {
    const advantages = async (options: PolicyGradientOptions) =>
      (await step(batch, options)).passes[0]?.data.flatMap((datum) => datum.advantages ?? [])
    const each = [2, -4, 3, -1].flatMap((n) =>
      Array.from({ length: Math.abs(n) }, () => ({ n: Math.abs(n), sign: Math.sign(n) })),
    )
    const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 12) as number)
    expect(await advantages({})).toEqual(close(each.map(({ sign }) => sign / 10)))
    expect(await advantages({ normalise: 'sequence' })).toEqual(close(each.map(({ n, sign }) => sign / (4 * n))))
    expect(await advantages({ normalise: { constant: 5 } })).toEqual(close(each.map(({ sign }) => sign / 20)))
    expect(await advantages({ loss: 'gspo' })).toEqual(await advantages({ normalise: 'sequence' }))
  })
})

describe('samples whose hint was taken away', () => {
  // The trainer finds each of their tokens 1.5 times as likely as who read the hint, or half as likely.
  const hinted = (name: number, ratio: number): PolicySample => ({
    ...sampleOf('a', name, 1, 1),
    behaviourLogprobs: [0, -Math.log(10 * ratio)],
    stripped: true,
  })

  it('have an upper bound of their own, and speak of no other metric', async () => {
    const { metrics } = await step([...batch, hinted(5, 1.5), hinted(6, 2)], { learningRate: 1 })
    expect(metrics).toMatchObject({ strippedClippedShare: 1 / 2, clippedShare: 0, kl: expect.closeTo(0, 12), rate: 1 })
    expect((await step([...batch, hinted(5, 1.5)], { strippedClipHigh: 1.4 })).metrics['strippedClippedShare']).toBe(1)
    expect((await step(batch)).metrics).not.toHaveProperty('strippedClippedShare')
  })

  it('are normalised with the others, and take one step with them', async () => {
    const { passes, metrics } = await step([...batch, hinted(5, 1.5)])
    expect(passes.length).toBe(1)
    expect(passes[0]?.data.length).toBe(4)
    expect(passes[0]?.data[0]?.advantages?.[0]).toBeCloseTo(1 / 11, 12)
    expect(metrics).toMatchObject({ samples: 5, steps: 1, tokens: 11 })
  })
})
