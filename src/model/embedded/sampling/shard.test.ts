import { describe, expect, it } from 'vitest'
import { inProcessTrainer } from '../../../../test/support/in-process-trainer.ts'
import { recorded, recordedAdapter, recordedModel } from '../../../../test/support/recorded.ts'
import type { TransformerConfig } from '../transformer/config.ts'
import { flatten } from '../train/flat-tensors.ts'
import { loraShapes } from '../train/lora.ts'
import type { SampledTokens, SampleJob } from './job.ts'
import { SamplingShard } from './shard.ts'
import { uniform } from './uniform.ts'

const config = { ...(recorded('llama') as { config: TransformerConfig }).config, maxPositions: 2048 }
const model = recordedModel(config)
const adapter = recordedAdapter(config, 2, 1)

const open = async (options: { deterministic?: boolean; cacheBytes?: number } = {}) => {
  const shard = await SamplingShard.open({
    model,
    contextLength: 2048,
    threads: 1,
    deterministic: false,
    cacheBytes: 2 ** 24,
    ...options,
  })
  await shard.loadAdapter('a', { kind: 'lora', adapter })
  return shard
}

let jobs = 0
const job = (prompt: readonly number[], options: Partial<SampleJob> = {}): SampleJob => ({
  id: jobs++,
  prompt: Int32Array.from(prompt),
  adapter: null,
  maxTokens: 8,
  temperature: 1,
  topK: Number.POSITIVE_INFINITY,
  topP: 1,
  stopTokens: [],
  seed: 1,
  firstDraw: 0,
  streamed: false,
  ...options,
})

/** Runs all jobs together; results in the order of the jobs. */
async function run(shard: SamplingShard, ...wanted: readonly SampleJob[]): Promise<readonly SampledTokens[]> {
  for (const one of wanted) shard.submit(one)
  const results = new Map<number, SampledTokens>()
  for (let ticks = 0; !shard.idle; ticks++) {
    if (ticks > 2000) throw new Error('the shard does not come to an end')
    for (const result of await shard.tick()) results.set(result.id, result)
  }
  return wanted.map(({ id }) => results.get(id)!)
}

const prompt = (length: number, seed: number) =>
  Array.from({ length }, (_, i) => Math.floor(uniform(seed, i) * config.vocabSize))
const tokensOf = (results: readonly SampledTokens[]) => results.map(({ tokens }) => [...tokens])

/** Prompts of many lengths: some long, some alike, some that begin alike. */
const various = [1, 2, 5, 17, 17, 40, 90, 300]
  .map((length, i) => prompt(length, i))
  .concat([prompt(40, 5), [...prompt(40, 5), 3], [...prompt(30, 5), 4, 4]])

describe.each([{ deterministic: false }, { deterministic: true }])('a shard, $deterministic', (options) => {
  it('samples together what it samples one by one', async () => {
    const wanted = various.map((tokens, i) =>
      job(tokens, { temperature: i % 3 === 0 ? 0 : 0.8, seed: i, maxTokens: 3 + i }),
    )
    const together = await run(await open(options), ...wanted)
    const alone = []
    for (const one of wanted) alone.push((await run(await open(options), { ...one, id: jobs++ }))[0]!)
    expect(tokensOf(together)).toEqual(tokensOf(alone))
    expect(together.map(({ tokens }) => tokens.length)).toEqual(wanted.map(({ maxTokens }) => maxTokens))
  })

  it('continues over cached turns as from scratch', async () => {
    const shard = await open(options)
    let tokens = prompt(20, 1)
    for (let turn = 0; turn < 4; turn++) {
      const [cached] = await run(shard, job(tokens, { seed: turn }))
      const [fresh] = await run(await open(options), job(tokens, { seed: turn }))
      expect([...cached!.tokens]).toEqual([...fresh!.tokens])
      cached!.logprobs.forEach((logprob, i) => expect(logprob).toBeCloseTo(fresh!.logprobs[i]!, 4))
      tokens = [...tokens, ...cached!.tokens, ...prompt(11, 10 + turn)]
    }
  })

  it('serves adapters and base side by side as each alone', async () => {
    const wanted = [null, 'a', null, 'b'].map((name, i) =>
      job(prompt(12, 3), { adapter: name, seed: i, maxTokens: 12 }),
    )
    const shard = await open(options)
    const other = recordedAdapter(config, 3, 2)
    await shard.loadAdapter('b', { kind: 'lora', adapter: other })
    const together = await run(shard, ...wanted)
    for (const [index, one] of wanted.entries()) {
      const single = await open(options)
      await single.loadAdapter('b', { kind: 'lora', adapter: other })
      const [alone] = await run(single, { ...one, id: jobs++ })
      expect([...together[index]!.tokens]).toEqual([...alone!.tokens])
    }
  })

  it('gives the log-probabilities that the trainer computes', async () => {
    const shard = await open(options)
    const { tensors, ...lora } = adapter
    const tuned = inProcessTrainer({
      model,
      trained: { kind: 'lora', ...lora },
      values: flatten(loraShapes(config, lora), tensors),
    })
    for (const temperature of [1, 0.7]) {
      const results = await run(
        shard,
        ...various.map((tokens, i) => job(tokens, { adapter: 'a', temperature, seed: i })),
      )
      for (const [index, { tokens, behaviourLogprobs }] of results.entries()) {
        const all = [...various[index]!, ...tokens]
        const weights = all.slice(1).map((_, i) => (i + 1 >= various[index]!.length ? 1 : 0))
        const datum = { input: all.slice(0, -1), target: all.slice(1), weights, logprobs: weights, advantages: weights }
        const { logprobs } = await tuned.trainer.forwardBackward([datum], { kind: 'importance_sampling', temperature })
        const expected = logprobs[0]!.slice(various[index]!.length - 1)
        behaviourLogprobs.forEach((logprob, i) => expect(Math.abs(logprob - expected[i]!)).toBeLessThan(5e-5))
      }
    }
  })
})

describe('a deterministic shard', () => {
  it('gives the same bits whatever runs beside a job or ran before it', async () => {
    const wanted = various.map((tokens, i) => job(tokens, { adapter: i % 2 ? 'a' : null, seed: i, maxTokens: 40 }))
    const busy = await open({ deterministic: true })
    await run(busy, ...various.map((tokens) => job([...tokens, 1, 2, 3])))
    const together = await run(busy, ...wanted)
    const again = await run(busy, ...wanted.toReversed().map((one) => ({ ...one, id: jobs++ })))
    for (const [index, one] of wanted.entries()) {
      const [alone] = await run(await open({ deterministic: true }), { ...one, id: jobs++ })
      for (const result of [together[index]!, again.toReversed()[index]!]) {
        expect(result.tokens).toEqual(alone!.tokens)
        expect(result.logprobs).toEqual(alone!.logprobs)
        expect(result.behaviourLogprobs).toEqual(alone!.behaviourLogprobs)
      }
    }
  })
})

describe('sampling', () => {
  it('ends after a stop token, which is part of the result', async () => {
    const shard = await open()
    const [free] = await run(shard, job([1, 2, 3], { maxTokens: 30 }))
    const stop = free!.tokens[4]!
    const first = free!.tokens.indexOf(stop)
    const [stopped] = await run(shard, job([1, 2, 3], { maxTokens: 30, stopTokens: [stop] }))
    expect(stopped!.stopReason).toBe('stop')
    expect([...stopped!.tokens]).toEqual([...free!.tokens.subarray(0, first + 1)])
    expect(free!.stopReason).toBe('length')
  })

  it('returns the tokens so far when a job is cancelled, waiting or under way', async () => {
    const shard = await open()
    const running = job([1, 2], { maxTokens: 200 })
    const waiting = job([3, 4], { maxTokens: 200 })
    const other = job([5], { maxTokens: 9 })
    const [expected] = await run(await open(), { ...other, id: jobs++ })
    shard.submit(running)
    shard.submit(other)
    for (let tick = 0; tick < 6; tick++) await shard.tick()
    shard.submit(waiting)
    for (const id of [running.id, waiting.id, jobs + 100]) shard.cancel(id)
    const ended = new Map((await shard.tick()).map((result) => [result.id, result]))
    expect(ended.get(running.id)).toMatchObject({ stopReason: 'cancelled' })
    expect(ended.get(running.id)!.tokens.length).toBeGreaterThan(0)
    expect(ended.get(waiting.id)).toMatchObject({ stopReason: 'cancelled', tokens: new Int32Array(0) })
    const rest: SampledTokens[] = []
    while (!shard.idle) rest.push(...(await shard.tick()))
    expect(rest.map(({ id }) => id)).toEqual([other.id])
    expect(rest[0]!.tokens).toEqual(expected!.tokens)
  })

  it('tells of streamed jobs what each run added, and leaves the end to their results', async () => {
    const shard = await open()
    const [heard, unheard] = [job([1, 2], { maxTokens: 5, streamed: true }), job([1, 3], { maxTokens: 5 })]
    shard.submit(heard)
    shard.submit(unheard)
    const news: number[] = []
    const results: SampledTokens[] = []
    while (!shard.idle) {
      results.push(...(await shard.tick()))
      const tokens = shard.takeNews()
      expect(tokens.length).toBeLessThanOrEqual(1)
      for (const { job: id, token } of tokens) {
        expect(id).toBe(heard.id)
        news.push(token)
      }
    }
    const result = results.find(({ id }) => id === heard.id)!
    expect(news).toEqual([...result.tokens.subarray(0, 4)])
    expect(shard.takeNews()).toEqual([])
  })

  it('continues a stream of random numbers where it was left', async () => {
    const shard = await open()
    const [whole] = await run(shard, job([7, 8], { maxTokens: 10, seed: 5 }))
    const [head] = await run(shard, job([7, 8], { maxTokens: 4, seed: 5 }))
    const [tail] = await run(shard, job([7, 8, ...head!.tokens], { maxTokens: 6, seed: 5, firstDraw: 4 }))
    expect([...head!.tokens, ...tail!.tokens]).toEqual([...whole!.tokens])
  })

  it('keeps its cache within the budget and still samples the same', async () => {
    const small = await open({ cacheBytes: 20_000 })
    const wanted = various.map((tokens, i) => job(tokens, { seed: i, maxTokens: 20 }))
    const results = await run(small, ...wanted)
    expect(small.cachedBytes).toBeLessThanOrEqual(20_000)
    expect(tokensOf(results)).toEqual(tokensOf(await run(await open(), ...wanted)))
  })

  it('keeps decoding and cached keys and values within one bound, over adapters', async () => {
    const perToken = config.layers * 2 * config.kvHeads * config.headDim * 4
    const cacheBytes = 1500 * perToken
    const small = await open({ cacheBytes })
    const wanted = Array.from({ length: 40 }, (_, i) =>
      job(prompt(20 + 3 * i, i), { seed: i, maxTokens: 30, adapter: i % 2 ? 'a' : null }),
    )
    for (const one of wanted) small.submit(one)
    const tokens = new Map<number, readonly number[]>()
    let most = 0
    while (!small.idle) {
      for (const result of await small.tick()) tokens.set(result.id, [...result.tokens])
      most = Math.max(most, small.keyValueBytes)
    }
    expect(most).toBeLessThanOrEqual(cacheBytes)
    expect(most).toBeGreaterThan(cacheBytes / 2)
    expect(wanted.map(({ id }) => tokens.get(id))).toEqual(tokensOf(await run(await open(), ...wanted)))
  })

  it('computes a shared prompt once', async () => {
    const shard = await open()
    const before = shard.cachedBytes
    await run(shard, ...Array.from({ length: 8 }, (_, i) => job(prompt(64, 1), { seed: i, maxTokens: 1 })))
    const perToken = config.layers * 2 * config.kvHeads * config.headDim * 4
    // 63 rows of the prompt, and the row of its last token once.
    expect(shard.cachedBytes - before).toBe(64 * perToken)
  })

  it('forgets an unloaded adapter and what was cached under it', async () => {
    const shard = await open()
    const before = shard.cachedBytes
    await run(shard, job(prompt(30, 2), { adapter: 'a' }))
    expect(shard.cachedBytes).toBeGreaterThan(before)
    shard.unloadAdapter('a')
    expect(shard.cachedBytes).toBe(before)
    expect(() => shard.submit(job([1], { adapter: 'a' }))).toThrow('adapter a')
  })
})
