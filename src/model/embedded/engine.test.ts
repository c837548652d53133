import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AdapterRef, Saved } from '../../core/index.ts'
import { hasExactBytes } from '../../../test/support/exact-bytes.ts'
import { keptAtServer } from '../../../test/support/kept-at-server.ts'
import { recorded, recordedModel } from '../../../test/support/recorded.ts'
import { describeEngineConformance } from './engine.conformance.ts'
import { type EmbeddedEngine, type EmbeddedEngineOptions, openEmbeddedEngine } from './engine.ts'
import type { TransformerConfig } from './transformer/config.ts'
import { bytesOf } from './train/bytes-of.ts'
import { inPrecision } from './transformer/base-weights.ts'
import type { RoundedMatrix } from './transformer/rounded-matrix.ts'

const config = { ...(recorded('llama') as { config: TransformerConfig }).config, maxPositions: 2048 }
const model = recordedModel(config)

/** Every token is a letter; 26 and up are two letters. */
const letters = (token: number): string =>
  token < 26 ? String.fromCharCode(97 + token) : `${letters(token - 26)}${letters((token * 7) % 26)}`
const decode = (tokens: readonly number[]) => tokens.map(letters).join('')

const open = (options: Partial<EmbeddedEngineOptions> = {}) => openEmbeddedEngine({ model, decode, ...options })

const conforming = async (options: Partial<EmbeddedEngineOptions>) => {
  const engine = await open(options)
  return {
    ...engine,
    trainer: (method: Parameters<typeof engine.trainer>[0]['method'], seed: number) => engine.trainer({ method, seed }),
    loadAdapter: (saved: Saved) => engine.loadAdapter(bytesOf(saved)),
  }
}

describeEngineConformance('the embedded engine', () => conforming({ workers: 1, threadsPerWorker: 1 }))
describeEngineConformance('two workers', () => conforming({ workers: 2, threadsPerWorker: 1 }))
if (hasExactBytes) {
  describeEngineConformance('an engine in 8 bits', () =>
    conforming({ workers: 2, threadsPerWorker: 1, precision: 'int8' }),
  )
}
describeEngineConformance('the deterministic engine', () => conforming({ deterministic: true }))
describeEngineConformance('an engine that trains soft prompts', () => conforming({ workers: 2, threadsPerWorker: 1 }), {
  method: { kind: 'prompt', length: 5 },
  pace: 3,
})
describeEngineConformance(
  'an engine whose server keeps what its trainers save',
  async () => keptAtServer(await conforming({ workers: 1, threadsPerWorker: 1 })).service,
)

describe('the embedded engine', () => {
  let engine: EmbeddedEngine
  beforeAll(async () => {
    engine = await open({ workers: 2, threadsPerWorker: 1 })
  })
  afterAll(() => engine.close())

  const sample = async (params: { stop?: string[]; seed?: number; maxTokens?: number }) => {
    const [sequence] = await engine.sampler.sample({
      prompt: [1, 2, 3],
      adapter: null,
      params: { maxTokens: 40, seed: 4, ...params },
    })
    return sequence!
  }

  it('stops at a string that several tokens spell, and keeps the tokens that complete it', async () => {
    const free = await sample({})
    const text = decode(free.tokens)
    for (const from of [0, 3, 10, 21]) {
      const stop = text.slice(from, from + 5)
      const stopped = await sample({ stop: [stop, 'never there'] })
      expect(stopped.stopReason).toBe('stop')
      expect(decode(stopped.tokens)).toContain(stop)
      expect(decode(stopped.tokens.slice(0, -1))).not.toContain(stop)
      expect(stopped.tokens).toEqual(free.tokens.slice(0, stopped.tokens.length))
    }
  })

  it('samples the same when a stop string nearly appears again and again', async () => {
    const free = await sample({})
    const nearly = await sample({ stop: ['aaaaaaaa', 'eeeeeeee', 'zzzzzzzz'] })
    expect(nearly).toEqual({ ...free, logprobs: nearly.logprobs, behaviourLogprobs: nearly.behaviourLogprobs })
    nearly.logprobs.forEach((logprob, i) => expect(logprob).toBeCloseTo(free.logprobs[i]!, 4))
  })

  it('tells each token when it is sampled, those of a stop string too', async () => {
    const free = await sample({})
    const stop = decode(free.tokens).slice(12, 17)
    const told: number[] = []
    const ended: number[] = []
    const run = async (prompt: readonly number[], index: number) => {
      const chunks: number[][] = []
      const [sequence] = await engine.sampler.sample({
        prompt,
        adapter: null,
        params: { maxTokens: 40, seed: 4, stop: [stop] },
        onTokens({ tokens }) {
          chunks.push([...tokens])
          told.push(index)
        },
      })
      ended.push(index)
      expect(chunks.flat()).toEqual(sequence!.tokens)
      expect(chunks.every(({ length }) => length === 1)).toBe(true)
    }
    await Promise.all([run([1, 2, 3], 0), run([4, 5, 6], 1), run([1, 2, 3], 2)])
    expect(ended).toHaveLength(3)
    // They advance together: what one is told comes between what another is told.
    expect(told.indexOf(2)).toBeLessThan(told.lastIndexOf(0))
  })

  it('publishes fully trained weights as an adapter beside the base', async () => {
    const trainer = await engine.trainer({ method: { kind: 'full' }, seed: 1 })
    for (let step = 0; step < 40; step++) {
      await trainer.forwardBackward([{ input: [1], target: [7] }], { kind: 'cross_entropy' })
      await trainer.optimStep({ learningRate: 0.01 })
    }
    const tuned = await trainer.publish()
    const greedy = (adapter: AdapterRef | null) =>
      engine.sampler.sample({ prompt: [1], adapter, params: { maxTokens: 1, temperature: 0 } })
    const [[before], [after]] = await Promise.all([greedy(null), greedy(tuned)])
    expect(after!.tokens).toEqual([7])
    expect(after!.logprobs[0]).not.toBeCloseTo(before!.logprobs[0]!, 4)
  })

  it('trains an auxiliary head in its workers, which what it publishes does not have', async () => {
    const trainer = await engine.trainer({ method: { kind: 'lora', rank: 2, alpha: 4 }, seed: 1 })
    const marked = (target: number) => ({
      input: [target, 2, 3],
      target: [2, 3, 4],
      weights: [0, 0, 0],
      auxiliary: { targets: [[], [], [target / 10, -1]], weights: [0, 0, 1] },
    })
    await trainer.auxiliary?.attach(2)
    const losses: (number | undefined)[] = []
    for (let step = 0; step < 30; step++) {
      const data = Array.from({ length: 12 }, (_, i) => marked(i))
      losses.push((await trainer.forwardBackward(data, { kind: 'cross_entropy' })).auxiliaryLoss)
      await trainer.optimStep({ learningRate: 0.01 })
    }
    expect(losses.at(-1)).toBeLessThan(0.2 * losses[0]!)
    const adapter = await engine.loadAdapter(bytesOf(await trainer.saveWeights()))
    const ask = { prompt: [1], params: { maxTokens: 3, temperature: 0 } }
    const [[loaded], [published]] = await Promise.all([
      engine.sampler.sample({ ...ask, adapter }),
      engine.sampler.sample({ ...ask, adapter: await trainer.publish() }),
    ])
    expect(loaded!.tokens).toEqual(published!.tokens)
    await trainer.close()
  })

  it('does not block the event loop while it samples', async () => {
    let turns = 0
    const interval = setInterval(() => turns++, 1)
    await engine.sampler.sample({ prompt: [1, 2], adapter: null, samples: 16, params: { maxTokens: 300 } })
    clearInterval(interval)
    expect(turns).toBeGreaterThan(10)
  })

  it('refuses a LoRA that it cannot train', async () => {
    const method = { kind: 'lora', rank: 4, alpha: 8, targets: ['q', 'query'] } as const
    await expect(engine.trainer({ method, seed: 1 })).rejects.toMatchObject({ code: 'model/invalid-lora' })
  })

  it('refuses an adapter of another model', async () => {
    const other = await open({ model: recordedModel({ ...config, hiddenSize: 20 }), workers: 1 })
    const trainer = await other.trainer({ method: { kind: 'lora', rank: 2, alpha: 2 }, seed: 1 })
    const saved = await trainer.saveWeights()
    await other.close()
    await expect(engine.loadAdapter(bytesOf(saved))).rejects.toMatchObject({ code: expect.stringMatching(/^model\//) })
  })
})

describe('a deterministic engine', () => {
  it('repeats bit for bit, whatever runs beside a request', async () => {
    const request = (seed: number) => ({
      prompt: [3, 1, 4, 1, 5],
      adapter: null,
      samples: 3,
      params: { maxTokens: 20, seed },
    })
    const first = await open({ deterministic: true })
    const alone = await first.sampler.sample(request(7))
    await first.close()
    const second = await open({ deterministic: true })
    const [, together] = await Promise.all([3, 7, 9].map((seed) => second.sampler.sample(request(seed))))
    expect(together).toEqual(alone)
    expect(second.sampler.capabilities.deterministic).toBe(true)
    await second.close()
  })
})

describe('an engine that ends', () => {
  it('rejects what is under way, and what comes after', async () => {
    const engine = await open({ workers: 1 })
    const trainer = await engine.trainer({ method: { kind: 'full' }, seed: 1 })
    const request = { prompt: [1], adapter: null, params: { maxTokens: 2000 } }
    const outcome = expect(engine.sampler.sample(request)).rejects.toMatchObject({ code: 'model/engine-closed' })
    await new Promise((resolve) => setTimeout(resolve, 20))
    await engine.close()
    await outcome
    await expect(engine.sampler.sample(request)).rejects.toMatchObject({ code: 'model/engine-closed' })
    await expect(engine.close()).resolves.toBeUndefined()
    await expect(trainer.close()).resolves.toBeUndefined()
  })
})

it.skipIf(hasExactBytes)('refuses 8 bits where the processor does not multiply them exactly', async () => {
  await expect(open({ precision: 'int8' })).rejects.toMatchObject({ code: 'model/precision-unavailable' })
})

describe.skipIf(!hasExactBytes)('an engine in 8 bits', () => {
  const data = [{ input: [1, 2, 3, 4, 5, 6, 7], target: [2, 3, 4, 5, 6, 7, 8] }]
  const method = { kind: 'lora', rank: 4, alpha: 8 } as const

  /** Log-probabilities of the base, and of an adapter after three steps. */
  async function learned(options: Partial<EmbeddedEngineOptions>) {
    const engine = await open({ workers: 1, threadsPerWorker: 1, ...options })
    const trainer = await engine.trainer({ method, seed: 1 })
    const before = await trainer.forward(data)
    for (let step = 0; step < 3; step++) {
      await trainer.forwardBackward(data, { kind: 'cross_entropy' })
      await trainer.optimStep({ learningRate: 0.01 })
    }
    const after = await trainer.forward(data)
    await engine.close()
    return { before: before.flat(), after: after.flat() }
  }

  it('is one in float32 whose projections are rounded', async () => {
    const { tensors, rounded = new Map<string, RoundedMatrix>() } = inPrecision(model, 'int8')
    const floats = [...rounded].map(([name, { elements, scales }]) => {
      const width = elements.length / scales.length
      return [name, Float32Array.from(elements, (element, i) => element * scales[Math.floor(i / width)]!)] as const
    })
    const same = await learned({ model: { config, tensors: new Map([...tensors, ...floats]) } })
    const [eight, float] = [await learned({ precision: 'int8' }), await learned({})]
    eight.before.forEach((logprob, i) => expect(logprob).toBeCloseTo(same.before[i]!, 3))
    // Gradients are rounded more.
    eight.after.forEach((logprob, i) => expect(logprob).toBeCloseTo(same.after[i]!, 1))
    expect(eight.before).not.toEqual(float.before)
    eight.before.forEach((logprob, i) => expect(logprob).toBeCloseTo(float.before[i]!, 1))
  })

  it('says how near its trainer is', async () => {
    const engine = await open({ precision: 'int8', workers: 1 })
    expect(engine.sampler.capabilities.agreement).toBe(0.05)
    expect((await open({ workers: 1 })).sampler.capabilities.agreement).toBeUndefined()
    await engine.close()
  })

  it('refuses other devices, and to train all weights or a memory', async () => {
    const refusal = { code: 'model/precision-unavailable' }
    await expect(open({ precision: 'int8', device: 'cuda' })).rejects.toMatchObject(refusal)
    const engine = await open({ precision: 'int8', workers: 1 })
    await expect(engine.trainer({ method: { kind: 'full' }, seed: 1 })).rejects.toMatchObject(refusal)
    const memory = { layer: 0, neighbours: 2 }
    await expect(engine.memoryTrainer({ memory, seed: 1 })).rejects.toMatchObject(refusal)
    await engine.close()
  })

  it('serves whole weights that were trained in float32 as they are', async () => {
    const float = await open({ workers: 1 })
    const trainer = await float.trainer({ method: { kind: 'full' }, seed: 1 })
    const saved = bytesOf(await trainer.saveWeights())
    const engine = await open({ precision: 'int8', workers: 1 })
    const adapter = await engine.loadAdapter(saved)
    const ask = { prompt: [1, 2, 3], params: { maxTokens: 8, temperature: 0 } }
    const [[whole], [base]] = await Promise.all([
      engine.sampler.sample({ ...ask, adapter }),
      float.sampler.sample({ ...ask, adapter: null }),
    ])
    expect(whole!.tokens).toEqual(base!.tokens)
    whole!.logprobs.forEach((logprob, i) => expect(logprob).toBeCloseTo(base!.logprobs[i]!, 5))
    await Promise.all([engine.close(), float.close()])
  })
})
