import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recorded, recordedAdapter, recordedModel, relativeError, unpack } from '../../../../test/support/recorded.ts'
import type { AdapterRef, DatastoreRef, NearestParams, SamplingParams } from '../../../core/index.ts'
import { type EmbeddedEngine, type EmbeddedEngineOptions, openEmbeddedEngine } from '../engine.ts'
import { References } from '../sampling/references.ts'
import { writeAdapter } from '../train/adapter-file.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import type { Datastore } from './datastore.ts'
import { type DatastoreBackend, Datastores } from './datastores.ts'
import { mixtureLogprobs } from './mixture.ts'
import type { ReadRequest } from './text-reader.ts'

const { config } = recorded('llama') as { config: TransformerConfig }
const model = recordedModel(config)
const vectors = recorded('nearest') as Record<
  'base' | 'adapter',
  { keys: string; logprobs: Record<string, string>[] }
> & { texts: number[][]; asked: number[]; mixes: Omit<NearestParams, 'datastore'>[]; temperature: number }
const { texts, asked, mixes } = vectors
const decode = (tokens: readonly number[]) => tokens.join(' ')
const open = (options: Partial<EmbeddedEngineOptions> = {}) => openEmbeddedEngine({ model, decode, ...options })
const adapterBytes = writeAdapter(config, recordedAdapter(config, 4, 8))

let engine: EmbeddedEngine
let adapter: AdapterRef
beforeAll(async () => {
  engine = await open({ workers: 2, threadsPerWorker: 1 })
  adapter = await engine.loadAdapter(adapterBytes)
})
afterAll(() => engine.close())

const sampleWith = async (
  { sampler }: EmbeddedEngine,
  prompt: readonly number[],
  params: Partial<SamplingParams>,
  by: AdapterRef | null = null,
) => {
  const [sequence] = await sampler.sample({ prompt, adapter: by, params: { maxTokens: 8, seed: 3, ...params } })
  return sequence!
}

describe.each(['base', 'adapter'] as const)('by the numbers of PyTorch, %s', (by) => {
  const { keys, logprobs } = vectors[by]
  let datastore: Datastore
  let ref: DatastoreRef
  const weights = () => (by === 'base' ? null : adapter)
  beforeAll(async () => {
    datastore = await engine.datastores.build(texts, { adapter: weights() })
    ref = await engine.datastores.load(datastore)
  })

  it('keys are the states that the last feed-forward network reads, with the tokens that followed', async () => {
    expect(relativeError(datastore.keys, unpack(keys))).toBeLessThan(2e-6)
    expect([...datastore.tokens]).toEqual(texts.flatMap((text) => text.slice(1)))
    expect(datastore.width).toBe(config.hiddenSize)
    const { states } = await engine.datastores.read(texts[0]!, { adapter: weights(), states: true })
    expect(relativeError(states, datastore.keys.subarray(0, states.length))).toBeLessThan(1e-6)
    expect(states.length).toBe((texts[0]!.length - 1) * config.hiddenSize)
  })

  it.each([0, 1, 2, 3])('a given text has the log-probabilities of mixture %i', async (i) => {
    const read = await engine.datastores.read(asked, { adapter: weights(), nearest: { datastore: ref, count: 19 } })
    const found = mixtureLogprobs(asked.slice(1), read.logprobs, read.neighbours, mixes[i]!)
    const expected = unpack(logprobs[i]!['1']!)
    found.forEach((logprob, position) => {
      const wanted = expected[position * config.vocabSize + asked[position + 1]!]!
      expect(Math.abs(Math.max(logprob, -1e4) - wanted)).toBeLessThan(2e-5)
    })
  })

  it.each([0, 1, 2, 3])('what is sampled has them of mixture %i, at both temperatures', async (i) => {
    const params = { maxTokens: 1, seed: 5, nearest: { datastore: ref, ...mixes[i]! } }
    const distribution = (temperature: string, length: number) =>
      unpack(logprobs[i]![temperature]!).subarray((length - 1) * config.vocabSize, length * config.vocabSize)
    for (const temperature of [1, vectors.temperature, 0]) {
      for (const length of [1, 4, asked.length]) {
        const drawn = await engine.sampler.sample({
          prompt: asked.slice(0, length),
          adapter: weights(),
          samples: 10,
          params: { ...params, temperature },
        })
        for (const { tokens, logprobs: told, behaviourLogprobs } of drawn) {
          const token = tokens[0]!
          expect(Math.abs(told[0]! - distribution('1', length)[token]!)).toBeLessThan(2e-5)
          const behaviour = temperature === 0 ? 0 : distribution(String(temperature), length)[token]!
          expect(Math.abs(behaviourLogprobs[0]! - behaviour)).toBeLessThan(2e-5)
          if (temperature === 0) expect(told[0]).toBeGreaterThan(Math.max(...distribution('1', length)) - 2e-5)
        }
      }
    }
  })
})

describe('sampling with a datastore', () => {
  let datastore: DatastoreRef
  beforeAll(async () => {
    datastore = await engine.datastores.load(await engine.datastores.build(texts))
  })
  const nearest = (params: Partial<NearestParams> = {}): NearestParams => ({
    datastore,
    weight: 0.5,
    neighbours: 4,
    temperature: 5,
    ...params,
  })

  it('repeats a text that it holds, greedily, with λ = 1 and k = 1', async () => {
    const params = { temperature: 0, nearest: nearest({ weight: 1, neighbours: 1 }) }
    const { tokens } = await sampleWith(engine, texts[0]!.slice(0, 3), { ...params, maxTokens: 7 })
    expect(tokens).toEqual(texts[0]!.slice(3))
  })

  it('with λ = 0 is the model, bit for bit', async () => {
    for (const temperature of [0, 0.7, 1]) {
      const plain = await sampleWith(engine, asked, { temperature })
      expect(await sampleWith(engine, asked, { temperature, nearest: nearest({ weight: 0 }) })).toEqual(plain)
    }
  })

  it('tells the mixture at temperature 1, also of what a low temperature leaves to the neighbours alone', async () => {
    // All entries: which of two that lie equally far comes first is a matter of rounding.
    const mix = nearest({ weight: 0.3, neighbours: 1024 })
    for (const temperature of [1e-20, 0.01, 0.1, 2]) {
      const params = { maxTokens: 6, seed: 1, temperature, nearest: mix }
      const drawn = await engine.sampler.sample({ prompt: asked, adapter: null, samples: 10, params })
      for (const { tokens, logprobs } of drawn) {
        const text = [...asked, ...tokens]
        const read = await engine.datastores.read(text, { nearest: { datastore, count: 1024 } })
        const wanted = mixtureLogprobs(text.slice(1), read.logprobs, read.neighbours, mix).slice(asked.length - 1)
        logprobs.forEach((logprob, i) => expect(Math.abs(logprob - wanted[i]!)).toBeLessThan(2e-5))
      }
    }
  })

  it('cuts the mixture with top-k', async () => {
    const { tokens } = await sampleWith(engine, asked, { topK: 1, nearest: nearest() })
    expect(tokens).toEqual((await sampleWith(engine, asked, { temperature: 0, nearest: nearest() })).tokens)
  })

  it('goes on with it over the stretches of stop strings, and tells what it streams', async () => {
    const told: number[] = []
    const params = { maxTokens: 12, seed: 2, nearest: nearest(), stop: ['never 99'] }
    const [stretched] = await engine.sampler.sample({
      prompt: asked,
      adapter: null,
      params,
      onTokens: ({ logprobs }) => told.push(...logprobs),
    })
    const { stop: _, ...whole } = params
    const once = await sampleWith(engine, asked, whole)
    expect(stretched!.tokens).toEqual(once.tokens)
    expect(told).toEqual(stretched!.logprobs)
  })

  it('ends with the tokens so far when it is cancelled, and goes on for others', async () => {
    const controller = new AbortController()
    const long = engine.sampler.sample({
      prompt: [1],
      adapter: null,
      params: { maxTokens: 60, nearest: nearest() },
      signal: controller.signal,
      onTokens: () => controller.abort(),
    })
    const beside = sampleWith(engine, asked, { nearest: nearest() })
    expect((await long)[0]).toMatchObject({ stopReason: 'cancelled' })
    expect((await beside).tokens.length).toBe(8)
  })

  it.each([
    [{ weight: 1.1 }],
    [{ weight: -0.1 }],
    [{ neighbours: 0 }],
    [{ neighbours: 1025 }],
    [{ temperature: 0 }],
    [{ temperature: Number.POSITIVE_INFINITY }],
  ])('refuses %j', async (params) => {
    await expect(sampleWith(engine, asked, { nearest: nearest(params) })).rejects.toMatchObject({
      code: 'model/invalid-sample-request',
    })
  })

  it('refuses it with other weights than it was computed by', async () => {
    await expect(sampleWith(engine, asked, { nearest: nearest() }, adapter)).rejects.toMatchObject({
      code: 'model/datastore-mismatch',
      message: expect.stringContaining('keys are of the base model') as string,
    })
    const ofAdapter = await engine.datastores.load(await engine.datastores.build(texts, { adapter }))
    const params = { nearest: nearest({ datastore: ofAdapter }) }
    await expect(sampleWith(engine, asked, params)).rejects.toMatchObject({ code: 'model/datastore-mismatch' })
    await expect(sampleWith(engine, asked, params, adapter)).resolves.toBeDefined()
    // The same weights under another reference are the same weights.
    const again = await engine.loadAdapter(adapterBytes)
    await expect(sampleWith(engine, asked, params, again)).resolves.toBeDefined()
    await expect(engine.datastores.read(asked, { nearest: { datastore: ofAdapter, count: 1 } })).rejects.toMatchObject({
      code: 'model/datastore-mismatch',
    })
  })

  it('refuses one of another model, of another vocabulary, and one that was unloaded', async () => {
    const built = await engine.datastores.build(texts)
    const other = { ...built, origin: { model: 'c'.repeat(64), adapter: null } }
    await expect(engine.datastores.load(other)).rejects.toMatchObject({ code: 'model/datastore-mismatch' })
    const foreign = { ...built, tokens: built.tokens.map(() => config.vocabSize) }
    await expect(engine.datastores.load(foreign)).rejects.toMatchObject({ code: 'model/invalid-datastore' })
    const gone = await engine.datastores.load(built)
    await engine.datastores.unload(gone)
    await expect(sampleWith(engine, asked, { nearest: nearest({ datastore: gone }) })).rejects.toMatchObject({
      code: 'model/unknown-datastore',
    })
    await expect(engine.datastores.unload(gone)).rejects.toMatchObject({ code: 'model/unknown-datastore' })
  })
})

it('in deterministic mode a result does not depend on who else is in the batch', async () => {
  const alone = await open({ deterministic: true })
  const { datastores, sampler } = alone
  const [first, second] = [
    await datastores.load(await datastores.build(texts)),
    await datastores.load(await datastores.build([asked])),
  ]
  const request = (datastore: DatastoreRef | null, seed: number, neighbours = 4) => ({
    prompt: asked.slice(0, 1 + (seed % 7)),
    adapter: null,
    params: {
      maxTokens: 20,
      seed,
      ...(datastore && { nearest: { datastore, weight: 0.5, neighbours, temperature: 5 } }),
    },
  })
  const requests = [
    request(first, 1),
    request(first, 2, 19),
    request(second, 3),
    request(null, 4),
    request(first, 5, 1),
  ]
  const apart = []
  for (const one of requests) apart.push(await sampler.sample(one))
  expect(await Promise.all(requests.map((one) => sampler.sample(one)))).toEqual(apart)
  await alone.close()
})

describe('reading texts', () => {
  it('does not depend on where the parts of a long text begin', async () => {
    const long = Array.from({ length: 64 }, (_, i) => (i * 7) % config.vocabSize)
    const whole = await engine.datastores.read(long)
    const short = await engine.datastores.read(long.slice(0, 20))
    expect(whole.logprobs.length).toBe(63)
    expect(whole.states.length).toBe(0)
    expect(relativeError(short.logprobs, whole.logprobs.subarray(0, 19))).toBeLessThan(1e-5)
  })

  it('says nothing of a text of one token, and refuses what is no text of this model', async () => {
    expect((await engine.datastores.read([4])).logprobs.length).toBe(0)
    for (const text of [[config.vocabSize], [1.5], Array<number>(65).fill(1)]) {
      await expect(engine.datastores.read(text)).rejects.toMatchObject({ code: 'model/invalid-sample-request' })
    }
    const ref = await engine.datastores.load(await engine.datastores.build([asked]))
    for (const count of [0, 1.5, 1025]) {
      await expect(engine.datastores.read(asked, { nearest: { datastore: ref, count } })).rejects.toMatchObject({
        code: 'model/invalid-sample-request',
      })
    }
    await expect(engine.datastores.build([[1]])).rejects.toMatchObject({ code: 'model/invalid-datastore' })
  })

  it('refuses to build more entries than are searched before it reads anything', async () => {
    const many = Array.from({ length: 2000 }, () => Array<number>(64).fill(1))
    await expect(engine.datastores.build(many)).rejects.toThrow('126000 entries')
  })
})

describe('the engine behind', () => {
  const fake = (read: (request: ReadRequest) => void = () => undefined) => {
    const calls: string[] = []
    const backend: DatastoreBackend = {
      loadDatastore: () => Promise.resolve(),
      unloadDatastore: (id) => Promise.resolve(void calls.push(`unload ${id}`)),
      fingerprint: () => Promise.resolve('a'.repeat(64)),
      read: (request) => {
        read(request)
        const width = request.end - request.start
        return Promise.resolve({
          logprobs: new Float64Array(width),
          states: new Float32Array(width * 2),
          neighbours: [],
        })
      },
      endReading: (reading) => Promise.resolve(void calls.push(`end ${reading}`)),
    }
    const adapters = new References<readonly number[]>((id) => new Error(`unknown ${id}`))
    return {
      calls,
      datastores: new Datastores(backend, adapters, { vocabularySize: 9, contextLength: 999, hiddenSize: 2 }),
    }
  }

  it('forgets a text whose reading was cancelled', async () => {
    const controller = new AbortController()
    const { calls, datastores } = fake(({ start }) => start === 64 && controller.abort(new Error('enough')))
    const text = Array<number>(300).fill(1)
    await expect(datastores.build([text], { signal: controller.signal })).rejects.toThrow('enough')
    expect(calls).toEqual(['end 0'])
  })

  it('frees a datastore when what uses it has ended', async () => {
    const { calls, datastores } = fake()
    const ref = await datastores.load(await datastores.build([[1, 2, 3]]))
    let end = () => undefined as void
    const use = datastores.during(ref, null, () => new Promise<void>((resolve) => (end = resolve)))
    await Promise.resolve()
    const unloading = datastores.unload(ref)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(calls).toEqual([])
    await expect(datastores.during(ref, null, () => Promise.resolve())).rejects.toMatchObject({
      code: 'model/unknown-datastore',
    })
    end()
    await Promise.all([use, unloading])
    expect(calls).toEqual([`unload ${ref.id}`])
  })

  it('refuses an adapter that is not loaded', async () => {
    const { datastores } = fake()
    await expect(datastores.read([1, 2], { adapter: { kind: 'adapter', id: 'x' } })).rejects.toThrow('unknown x')
  })
})
