import { describe, expect, it } from 'vitest'
import { type InProcessOptions, inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import {
  numbers,
  recorded,
  recordedAdapter,
  recordedModel,
  relativeError,
  unpack,
} from '../../../../test/support/recorded.ts'
import type { Datum, Loss } from '../../../core/index.ts'
import { auxiliaryHead, shapesWithHead } from '../transformer/auxiliary.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { type Trained, trainedShapes } from '../transformer/trained.ts'
import { FlatTensors, flatten } from './flat-tensors.ts'
import { readTrainingState } from './training-state.ts'

interface Recorded {
  readonly loss: number
  readonly auxiliaryLoss: number
  readonly old: readonly string[]
  readonly gradients: Record<string, string>
}
interface Vectors {
  readonly config: TransformerConfig
  readonly rank: number
  readonly alpha: number
  readonly data: readonly Datum[]
  readonly weights: readonly (readonly number[] | null)[]
  readonly outputs: number
  readonly lora: Record<'cross_entropy' | 'ppo', Recorded>
  readonly full: Recorded
}
const vectors = recorded('auxiliary') as Vectors
const { config, outputs } = vectors
const model = recordedModel(config)
const { tensors, ...loraConfig } = recordedAdapter(config, vectors.rank, vectors.alpha)
const lora: Trained = { kind: 'lora', ...loraConfig }
const full: Trained = { kind: 'full' }
const head = numbers(900, outputs * config.hiddenSize, 0.4)
const sft: Loss = { kind: 'cross_entropy' }
const adam = { learningRate: 0.01, gradClipNorm: 1 }

/** The recorded data with their auxiliary targets. */
const data = vectors.data.map((datum, index): Datum => {
  const weights = vectors.weights[index]
  if (!weights) return datum
  const flat = numbers(910 + index, weights.length * outputs)
  const targets = weights.map((_, t) => Array.from(flat.subarray(t * outputs, (t + 1) * outputs)))
  return { ...datum, auxiliary: { targets, weights } }
})
const without = data.map((datum): Datum => {
  const { auxiliary: _, ...rest } = datum
  return rest
})
const silent = data.map(({ auxiliary, ...datum }) =>
  auxiliary ? { ...datum, auxiliary: { ...auxiliary, weights: auxiliary.weights.map(() => 0) } } : datum,
)

async function open(options: Partial<InProcessOptions> = {}, ofHead: Float32Array | null = head) {
  const trained = options.trained ?? lora
  const values = flatten(trainedShapes(config, trained), trained.kind === 'full' ? model.tensors : tensors)
  const opened = inProcessTrainer({ model, trained, values, ...options })
  if (ofHead === null) return opened
  await opened.trainer.auxiliary.attach(ofHead.length / config.hiddenSize)
  const all = new Float32Array([...(options.values ?? values), ...ofHead])
  for (const shard of opened.shards) await shard.setValues(all.slice())
  return opened
}

/** The gradient of a pass, by tensor, and what the pass told. */
async function passed(given: readonly Datum[], loss: Loss, options: Partial<InProcessOptions> = {}) {
  const { trainer, shards } = await open(options)
  const result = await trainer.forwardBackward(given, loss)
  const gradient = new FlatTensors(shapesWithHead(config, options.trained ?? lora, outputs))
  for (const shard of shards) {
    ;(await shard.takeGradient())?.forEach((value, i) => {
      gradient.values[i] = gradient.values[i]! + value
    })
    await shard.close()
  }
  return { result, gradient }
}

describe('a linear head beside the output head', () => {
  it.each([
    ['cross_entropy', lora, vectors.lora.cross_entropy],
    ['ppo', lora, vectors.lora.ppo],
    ['cross_entropy', full, vectors.full],
  ] as const)('gives both losses and every gradient of PyTorch (%s, %o)', async (kind, trained, expected) => {
    const given = data.map((datum, index) => ({ ...datum, logprobs: [...unpack(expected.old[index]!)] }))
    const { result, gradient } = await passed(given, { kind }, { trained })
    expect(result.loss).toBeCloseTo(expected.loss, 4)
    expect(result.auxiliaryLoss).toBeCloseTo(expected.auxiliaryLoss, 4)
    for (const [name, recordedGradient] of Object.entries(expected.gradients)) {
      expect(relativeError(gradient.view(name), unpack(recordedGradient)), name).toBeLessThan(1e-5)
    }
  })

  it('has the slope that finite differences find, in the head and in the adapter', async () => {
    const start = new Float32Array([...flatten(trainedShapes(config, lora), tensors), ...head])
    const direction = numbers(77, start.length)
    const { trainer, shards } = await open()
    const at = async (step: number) => {
      await shards[0]!.setValues(start.map((value, i) => value + step * direction[i]!))
      const { loss, auxiliaryLoss } = await trainer.forwardBackward(data, sft)
      return { loss: loss + auxiliaryLoss!, gradient: (await shards[0]!.takeGradient())! }
    }
    const h = 2 ** -11
    const [before, here, after] = [await at(-h), await at(0), await at(h)]
    const slope = (after.loss - before.loss) / (2 * h)
    const predicted = here.gradient.reduce((sum, g, i) => sum + g * direction[i]!, 0)
    expect(Math.abs(predicted - slope)).toBeLessThan(5e-3 * Math.abs(slope))
  })

  it('is the same whatever the order of the data, and however they are packed and spread', async () => {
    const one = await passed(data, sft)
    const shuffled = await passed([data[2]!, data[0]!, data[1]!], sft, { shards: 2, budget: 8 })
    const alone = await passed(data, sft, { share: false })
    for (const other of [shuffled, alone]) {
      expect(other.result.auxiliaryLoss).toBeCloseTo(one.result.auxiliaryLoss!, 4)
      expect(relativeError(other.gradient.values, one.gradient.values)).toBeLessThan(1e-5)
    }
    expect(relativeError(shuffled.result.logprobs[1]!, one.result.logprobs[0]!)).toBeLessThan(2e-6)
  })

  it('that begins at 0 says 0, and moves nothing but itself in a first step', async () => {
    const { trainer, shards } = await open({}, null)
    await trainer.auxiliary.attach(outputs)
    const only = data.map((datum) => ({ ...datum, weights: datum.input.map(() => 0) }))
    const { auxiliaryLoss } = await trainer.forwardBackward(only, sft)
    const marked = data.flatMap(({ auxiliary }) =>
      (auxiliary?.weights ?? []).map((w, t) => (w * auxiliary!.targets[t]!.reduce((s, y) => s + y * y, 0)) / outputs),
    )
    expect(auxiliaryLoss).toBeCloseTo(
      marked.reduce((sum, one) => sum + one, 0),
      4,
    )
    const gradient = (await shards[0]!.takeGradient())!
    const ofHead = outputs * config.hiddenSize
    expect(gradient.slice(0, -ofHead).every((g) => g === 0)).toBe(true)
    expect(gradient.slice(-ofHead).every((g) => g !== 0)).toBe(true)
  })

  it('with weight 0 everywhere is no head at all, bit for bit', async () => {
    const stepped = async (given: readonly Datum[], ofHead: Float32Array | null) => {
      const { trainer } = await open({}, ofHead)
      const { loss, logprobs } = await trainer.forwardBackward(given, sft)
      const { gradNorm } = await trainer.optimStep(adam)
      return { loss, logprobs, gradNorm, weights: await trainer.saveWeights() }
    }
    expect(await stepped(silent, head)).toEqual(await stepped(without, null))
    // And it is one where the weights are not 0.
    expect(await stepped(data, head)).not.toEqual(await stepped(without, null))
  })

  it('tells no log-probability, and no loss, of a position that is auxiliary alone, however far its ratio', async () => {
    const far = data.map((datum) => ({
      ...datum,
      logprobs: datum.input.map(() => -1e30),
      advantages: datum.input.map(() => 0),
    }))
    const { result, gradient } = await passed(far, { kind: 'ppo' })
    expect(result).toMatchObject({ loss: 0, logprobs: data.map(({ input }) => input.map(() => 0)) })
    expect(result.auxiliaryLoss).toBeCloseTo(vectors.lora.cross_entropy.auxiliaryLoss, 4)
    expect(gradient.values.every(Number.isFinite)).toBe(true)
  })
})

describe('a head is state of training', () => {
  const step = async ({ trainer }: Awaited<ReturnType<typeof open>>) => {
    await trainer.forwardBackward(data, sft)
    return trainer.optimStep(adam)
  }

  it('which goes on after loading, bit for bit, in a trainer that had none', async () => {
    const one = await open({ shards: 2, budget: 8 })
    await step(one)
    const saved = await one.trainer.saveState()
    const other = await open({ shards: 2, budget: 8 }, null)
    await other.trainer.loadState(saved)
    for (const each of [one, other]) await step(each)
    expect(Buffer.compare(await other.trainer.saveState(), await one.trainer.saveState())).toBe(0)
    expect(readTrainingState(config, lora, saved).outputs).toBe(outputs)
  })

  it('and is taken away by a state without one', async () => {
    const plain = await (await open({}, null)).trainer.saveState()
    const { trainer } = await open()
    await trainer.loadState(plain)
    await expect(trainer.forwardBackward(data, sft)).rejects.toThrow('there is no auxiliary head')
    expect(Buffer.compare(await trainer.saveState(), plain)).toBe(0)
  })

  it('and no part of weights that are saved or published', async () => {
    const [one, none] = [await open(), await open({}, null)]
    expect(Buffer.compare(await one.trainer.saveWeights(), await none.trainer.saveWeights())).toBe(0)
    for (const { trainer } of [one, none]) await trainer.publish()
    expect(one.published).toEqual(none.published)
  })

  it('and stays where weights are loaded', async () => {
    const one = await open()
    const weights = await (await open({}, null)).trainer.saveWeights()
    await step(one)
    const before = (await one.shards[0]!.state()).values.slice(-head.length)
    for (const moments of ['keep', 'clear'] as const) {
      await one.trainer.loadWeights(weights, moments)
      const { values, m, step: steps } = await one.shards[0]!.state()
      expect(values.slice(-head.length)).toEqual(before)
      expect([m.some((value) => value !== 0), steps]).toEqual(moments === 'keep' ? [true, 1] : [false, 0])
      expect(Buffer.compare(await one.trainer.saveWeights(), weights as Uint8Array)).toBe(0)
    }
  })

  it('and nothing holds on to it: anchors are of the weights alone, and are saved beside it', async () => {
    const [one, none] = [await open(), await open({}, null)]
    const importance = await one.trainer.anchoring.importance(data)
    expect(Buffer.compare(importance, await none.trainer.anchoring.importance(data))).toBe(0)
    await one.trainer.anchoring.hold([importance], 20)
    await step(one)
    const saved = await one.trainer.saveState()
    const other = await open({}, null)
    await other.trainer.loadState(saved)
    const [left, right] = [await step(one), await step(other)]
    expect(left.anchorPenalty).toBeGreaterThan(0)
    expect(right).toEqual(left)
  })

  it('with as many outputs stays, and with others begins at 0', async () => {
    const { trainer, shards } = await open()
    await trainer.auxiliary.attach(outputs)
    expect((await shards[0]!.state()).values.slice(-head.length)).toEqual(head)
    await trainer.auxiliary.attach(2)
    const { values } = await shards[0]!.state()
    expect(values.slice(-2 * config.hiddenSize).every((value) => value === 0)).toBe(true)
    expect(values.length).toBe(flatten(trainedShapes(config, lora), tensors).length + 2 * config.hiddenSize)
  })
})

describe('refuses', () => {
  const first = data[0]!
  const marked = (change: object) => [{ ...first, auxiliary: { ...first.auxiliary!, ...change } }]
  const { targets, weights } = first.auxiliary!

  it.each([
    ['targets of another number of outputs', marked({ targets: targets.map(() => [1, 2]) }), 'has 2 entries'],
    ['targets for too few positions', marked({ targets: targets.slice(1) }), 'auxiliary.targets has 6 entries'],
    ['weights for too few positions', marked({ weights: weights.slice(1) }), 'auxiliary.weights has 6 entries'],
    ['a target that is no number', marked({ targets: targets.map(() => [1, Number.NaN, 0]) }), 'holds NaN'],
    ['a target past float32', marked({ targets: targets.map(() => [1, 1e39, 0]) }), 'no number in float32'],
    ['a weight that is no number', marked({ weights: weights.map(() => Number.NaN) }), 'weights[0] is NaN'],
    ['a weight below 0', marked({ weights: weights.map(() => -1) }), 'weights[0] is -1'],
  ])('%s', async (_, given, message) => {
    const { trainer } = await open()
    const refused = expect(trainer.forwardBackward(given, sft)).rejects
    await refused.toMatchObject({ code: 'model/invalid-datum', message: expect.stringContaining(message) })
    // And nothing is accumulated.
    await trainer.saveState()
  })

  it('targets without a head', async () => {
    const { trainer } = await open({}, null)
    await expect(trainer.forwardBackward(data, sft)).rejects.toMatchObject({ code: 'model/invalid-datum' })
    await expect(trainer.forwardBackward(silent, sft)).resolves.toMatchObject({ auxiliaryLoss: 0 })
  })

  it.each([-1, 1.5, Number.NaN])('a head of %s outputs', async (wrong) => {
    const { trainer } = await open()
    await expect(trainer.auxiliary.attach(wrong)).rejects.toMatchObject({ code: 'model/invalid-auxiliary-head' })
  })

  it('another head while a gradient would be lost', async () => {
    const { trainer } = await open()
    await trainer.forwardBackward(data, sft)
    await expect(trainer.auxiliary.attach(2)).rejects.toMatchObject({ code: 'model/gradient-pending' })
    await trainer.optimStep(adam)
    await trainer.auxiliary.attach(2)
  })
})

describe('the graph', () => {
  it('keeps its head from the tensors of a model', () => {
    expect(trainedShapes(config, full).has(auxiliaryHead)).toBe(false)
    expect([...shapesWithHead(config, full, 3).keys()].at(-1)).toBe(auxiliaryHead)
    expect(shapesWithHead(config, lora, 0)).toEqual(trainedShapes(config, lora))
  })
})
