import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gradientOf, inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import { numbers, recorded, recordedModel, relativeError, unpack } from '../../../../test/support/recorded.ts'
import type { AdapterRef, Datum } from '../../../core/index.ts'
import { type EmbeddedEngine, type EmbeddedEngineOptions, openEmbeddedEngine } from '../engine.ts'
import { readSafetensors, writeSafetensors } from '../load/safetensors.ts'
import type { LossKind } from '../loss/index.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { names } from '../transformer/weights.ts'
import { initialPrompt, promptTensor } from './soft-prompt.ts'

interface Run {
  readonly loss: number
  readonly logprobs: readonly string[]
  readonly old: readonly string[]
  readonly gradients: Readonly<Record<string, string>>
}
const { length, runs } = recorded('prompt') as { length: number; runs: Record<LossKind, Run> }
const { data, config, temperature } = recorded('losses') as {
  data: (Datum & { weights: number[]; advantages: number[] })[]
  config: TransformerConfig
  temperature: number
}
const model = recordedModel(config)
const trained = { kind: 'prompt', length } as const
/** The soft prompt of the recorded run. */
const recordedPrompt = () => numbers(7000, length * config.hiddenSize, 0.4)
const sft = { kind: 'cross_entropy' } as const

describe.each(Object.entries(runs) as [LossKind, Run][])('a soft prompt under %s', (kind, expected) => {
  it.each([1, 2])('gives the loss, log-probabilities and gradient of PyTorch on %d shards', async (shards) => {
    const given = data.map((datum, index) => ({ ...datum, logprobs: [...unpack(expected.old[index]!)] }))
    const loss = kind === 'cross_entropy' ? { kind } : { kind, temperature }
    const options = { model, trained, values: recordedPrompt(), shards, ...(shards > 1 && { budget: 8 }) }
    const { result, gradient } = await gradientOf(options, given, loss)
    expect(result.loss).toBeCloseTo(expected.loss, 4)
    for (const [index, logprobs] of expected.logprobs.entries()) {
      const { weights, advantages } = data[index]!
      const counted = unpack(logprobs).map((value, t) => (weights[t]! !== 0 && advantages[t]! !== 0 ? value : 0))
      expect(result.logprobs[index]).toHaveLength(data[index]!.input.length)
      expect(relativeError(result.logprobs[index]!, counted)).toBeLessThan(2e-6)
    }
    expect(relativeError(gradient.values, unpack(expected.gradients[promptTensor]!))).toBeLessThan(1e-5)
  })
})

describe('the gradient of a soft prompt', () => {
  const departures: Partial<TransformerConfig>[] = [
    {},
    { tiedHead: false, qkNorm: true },
    { embeddingScale: 2, normOffset: 1, postNorms: true, activation: 'gelu-tanh', attentionScale: 0.3 },
  ]
  it.each(departures)('is what finite differences say, with %o', async (departure) => {
    const other = recordedModel({ ...config, ...departure })
    const start = recordedPrompt()
    const { gradient } = await gradientOf({ model: other, trained, values: start }, data, sft)
    const { trainer, shards } = inProcessTrainer({ model: other, trained, values: start })
    const lossAt = async (values: Float32Array) => {
      await shards[0]!.setValues(values)
      return (await trainer.forwardBackward(data, sft)).loss
    }
    const step = 2e-3
    const direction = numbers(11, start.length)
    const moved = (by: number) => start.map((value, i) => value + by * direction[i]!)
    const across = async (by: number) => (await lossAt(moved(by))) - (await lossAt(moved(-by)))
    // Five points: the error is of the step's fourth power.
    const slope = (8 * (await across(step)) - (await across(2 * step))) / (12 * step)
    const expected = gradient.values.reduce((sum, value, i) => sum + value * direction[i]!, 0)
    expect(Math.abs(slope - expected)).toBeLessThan(5e-3 * Math.max(1, Math.abs(expected)))
  })

  it('counts nothing at the virtual tokens, and shares them: computed once for all data', async () => {
    const { trainer } = inProcessTrainer({ model, trained, values: recordedPrompt() })
    const plain = data.map(({ input, target }) => ({ input, target }))
    const { tokens, logprobs } = await trainer.forwardBackward(plain, sft)
    const words = data.reduce((sum, { input }) => sum + input.length, 0)
    expect(tokens.data).toBe(words)
    // Two data share four tokens, and all share the soft prompt.
    expect(tokens.computed).toBe(words - 4 + length)
    expect(logprobs.map((one) => one.every((logprob) => logprob < 0))).toEqual([true, true, true])
    const measured = await trainer.forward(plain)
    logprobs.forEach((one, index) => expect(relativeError(measured[index]!, one)).toBeLessThan(1e-6))
  })
})

describe('a soft prompt begins', () => {
  const row = (values: Float32Array, index: number) =>
    values.slice(index * config.hiddenSize, (index + 1) * config.hiddenSize)
  const embedding = model.tensors.get(names.embedding)!

  it('as the tokens it is given, over and over', () => {
    const { values } = initialPrompt(model, { length: 3 }, { initial: [7, 9], seed: 1 })
    expect([row(values, 0), row(values, 1), row(values, 2)]).toEqual([7, 9, 7].map((token) => row(embedding, token)))
  })

  it('as tokens of the vocabulary that the seed draws', () => {
    const drawn = (seed: number) => initialPrompt(model, { length: 4 }, { seed }).values
    expect(drawn(1)).toEqual(drawn(1))
    expect(drawn(1)).not.toEqual(drawn(2))
    const rows = Array.from({ length: config.vocabSize }, (_, token) => String(row(embedding, token)))
    for (let i = 0; i < 4; i++) expect(rows).toContain(String(row(drawn(3), i)))
  })

  it('as if its tokens had been said: the base model behind the same words', async () => {
    const { trainer } = inProcessTrainer({
      model,
      trained: { kind: 'prompt', length: 2 },
      values: initialPrompt(model, { length: 2 }, { initial: [7, 9], seed: 1 }).values,
    })
    const { trainer: base } = inProcessTrainer({ model, trained: { kind: 'full' } })
    const [behind] = await trainer.forward([{ input: [3, 4], target: [4, 6] }])
    const [said] = await base.forward([{ input: [7, 9, 3, 4], target: [9, 3, 4, 6] }])
    expect(relativeError(behind!, said!.slice(2))).toBeLessThan(1e-6)
  })
})

describe('an engine with a soft prompt', () => {
  const decode = (tokens: readonly number[]) => tokens.join(' ')
  const open = (options: Partial<EmbeddedEngineOptions> = {}) =>
    openEmbeddedEngine({ model, decode, deterministic: true, ...options })
  let engine: EmbeddedEngine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())

  const start = (method: Partial<{ length: number; initial: string | readonly number[] }> = {}, seed = 1) =>
    engine.trainer({ method: { kind: 'prompt', length: 4, ...method }, seed })
  const greedy = (adapter: AdapterRef | null, maxTokens = 8) =>
    engine.sampler.sample({ prompt: [1, 2, 3], adapter, params: { maxTokens, temperature: 0 } })

  it('serves several beside LoRA adapters and the base, which is what it was to the bit', async () => {
    const before = await greedy(null)
    const [one, other] = [await (await start({}, 1)).publish(), await (await start({ length: 9 }, 2)).publish()]
    const lora = await (await engine.trainer({ method: { kind: 'lora', rank: 2, alpha: 2 }, seed: 1 })).publish()
    const alone = [await greedy(one), await greedy(other), await greedy(lora)]
    const together = await Promise.all([greedy(null), greedy(one), greedy(other), greedy(lora), greedy(one)])
    expect(together).toEqual([before, ...alone, alone[0]])
    expect(alone[0]).not.toEqual(alone[1])
    expect(alone[2]).toEqual(before)
    await engine.sampler.unload(one)
    await expect(greedy(one)).rejects.toMatchObject({ code: 'model/unknown-adapter' })
  })

  it('counts it in the context', async () => {
    const adapter = await (await start({ length: 50 })).publish()
    expect(adapter.positions).toBe(50)
    const [sequence] = await greedy(adapter, 100)
    expect(sequence!.tokens).toHaveLength(config.maxPositions - 50 - 3)
    const long = { prompt: Array<number>(14).fill(1), adapter, params: { maxTokens: 1 } }
    await expect(engine.sampler.sample(long)).rejects.toThrow(/room for 14/)
    const trainer = await start({ length: 50 })
    const datum = { input: Array<number>(15).fill(1), target: Array<number>(15).fill(1) }
    await expect(trainer.forwardBackward([datum], sft)).rejects.toThrow(/15 tokens exceed the model's 14/)
  })

  it.each([
    ['of length 0', { length: 0 }],
    ['of half a vector', { length: 1.5 }],
    ['as long as the context', { length: config.maxPositions }],
    ['that begins with a token it has not', { initial: [config.vocabSize] }],
    ['that begins as nothing', { initial: [] }],
    ['that begins as words, which it cannot read', { initial: 'words' }],
  ])('refuses one %s', async (_, method) => {
    await expect(start(method)).rejects.toMatchObject({ code: 'model/invalid-soft-prompt' })
  })

  it('serves what was saved after it was opened again', async () => {
    const trainer = await start()
    await trainer.forwardBackward([{ input: [1, 2], target: [7, 8] }], sft)
    await trainer.optimStep({ learningRate: 0.1 })
    const saved = (await trainer.saveWeights()) as Uint8Array
    const before = await greedy(await trainer.publish())
    const again = await open()
    const adapter = await again.loadAdapter(saved)
    const request = { prompt: [1, 2, 3], adapter, params: { maxTokens: 8, temperature: 0 } }
    expect(await again.sampler.sample(request)).toEqual(before)
    await again.close()
  })

  it('refuses those of another model, of another length, damaged ones, and others than soft prompts', async () => {
    const trainer = await start()
    const refused = { code: 'model/state-mismatch' }
    const saved = (await trainer.saveWeights()) as Uint8Array
    for (const change of [{ hiddenSize: 20 }, { layers: 1 }, { vocabSize: 49 }]) {
      const other = await open({ model: recordedModel({ ...config, ...change }) })
      await expect(other.loadAdapter(saved)).rejects.toMatchObject(refused)
      await other.close()
    }
    const short = await open({ contextLength: 4 })
    await expect(short.loadAdapter(saved)).rejects.toThrow(/fills the context/)
    await short.close()
    await expect((await start({ length: 5 })).loadWeights(saved)).rejects.toThrow(/a soft prompt of 4/)
    await expect((await start({ length: 5 })).loadState(await trainer.saveState())).rejects.toThrow(
      /a soft prompt of 4/,
    )

    const { tensors, metadata } = readSafetensors(saved)
    const shape = tensors.get(promptTensor)!.shape
    const nan = new Float32Array(4 * config.hiddenSize).fill(Number.NaN)
    const damaged = writeSafetensors(new Map([[promptTensor, { shape, data: nan }]]), metadata)
    await expect(engine.loadAdapter(damaged)).rejects.toThrow(/holds NaN at element 0/)
    const lora = await engine.trainer({ method: { kind: 'lora', rank: 2, alpha: 2 }, seed: 1 })
    await expect(trainer.loadWeights(await lora.saveWeights())).rejects.toMatchObject(refused)
    await expect(lora.loadWeights(saved)).rejects.toMatchObject(refused)
  })
})
