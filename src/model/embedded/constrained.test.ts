import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyModel } from '../../../test/tiny/model.ts'
import type { Grammar, JsonSchema, SampledSequence, SampleRequest, SamplingParams } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { type EmbeddedEngine, openEmbeddedEngine } from './engine.ts'
import { Compiler } from './grammar/compiler.ts'
import { ebnfOf } from './grammar/ebnf.ts'
import { byteLevelSpelling } from './load/token-bytes.ts'
import { type LoadedModel, loadModel, textOfTokens } from './load/index.ts'

const words = ['name', 'true', '{"', '":', '"}', '", "', 'null']
const end = 2
const folder = mkdtempSync(join(tmpdir(), 'ratchet-constrained-'))
let model: LoadedModel
let engine: EmbeddedEngine
beforeAll(async () => {
  writeTinyModel(folder, { words })
  model = await loadModel(folder)
  engine = await open({ deterministic: true })
}, 60_000)
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true })
})

const open = (options: { deterministic?: boolean; workers?: number; threadsPerWorker?: number; blind?: boolean }) =>
  openEmbeddedEngine({
    model: model.weights,
    decode: (tokens) => model.tokenizer.decode(tokens),
    ...(options.blind ? {} : { vocabulary: () => textOfTokens(model.tokenizer) }),
    ...options,
  })

const json = (schema: JsonSchema): Grammar => ({ kind: 'json', schema })
const person = {
  type: 'object',
  properties: {
    name: { enum: ['Ann', 'Bo'] },
    old: { type: 'boolean' },
    age: { type: 'integer', minimum: 0, maximum: 99 },
  },
  required: ['name', 'age'],
}
const prompt = [1, 80, 81, 82]
const sample = async (params: Partial<SamplingParams>, on = engine, more: Partial<SampleRequest> = {}) => {
  const request = { prompt, adapter: null, params: { maxTokens: 120, stopTokens: [end], seed: 3, ...params }, ...more }
  return present((await on.sampler.sample(request))[0], 'the sequence')
}
const textOf = ({ tokens }: SampledSequence) => model.tokenizer.decode(tokens.filter((token) => token !== end))

describe('sampling in a grammar', () => {
  it('says only what the schema accepts, whatever the schema, temperature and truncation', async () => {
    const ajv = new Ajv({ strict: false })
    const leaf = fc.constantFrom<JsonSchema>(
      { enum: ['a', 'é', 7] },
      { type: 'boolean' },
      { type: 'integer', minimum: -3, maximum: 40 },
      { type: ['null', 'boolean'] },
    )
    const schema = fc.oneof(
      leaf,
      leaf.map((items) => ({ type: 'array', items, maxItems: 3 })),
      fc.array(leaf, { minLength: 1, maxLength: 3 }).map((of) => ({
        type: 'object',
        properties: Object.fromEntries(of.map((one, i) => [words[i], one])),
        required: ['name'],
      })),
    )
    const how = fc.constantFrom(
      {},
      { temperature: 0 },
      { temperature: 0.3 },
      { temperature: 1.6 },
      { topK: 5 },
      { topP: 0.7 },
    )
    await fc.assert(
      fc.asyncProperty(schema, how, fc.nat(), async (one, params, seed) => {
        const sequence = await sample({ ...params, seed, maxTokens: 200, grammar: json(one) })
        if (sequence.stopReason === 'length') return
        expect(sequence.tokens.at(-1)).toBe(end)
        expect(ajv.validate(one, JSON.parse(textOf(sequence))), textOf(sequence)).toBe(true)
      }),
      { numRuns: 60 },
    )
  }, 120_000)

  it.each([1, 0.6])(
    'tells log p(token) over the sum of the allowed, of the free model’s own, at temperature %d',
    async (temperature) => {
      const sequence = await sample({ grammar: json(person), temperature, seed: 5 })
      const trainer = await engine.trainer({ method: { kind: 'lora', rank: 1, alpha: 1 }, seed: 1 })
      const vocabulary = textOfTokens(model.tokenizer).map((bytes) => byteLevelSpelling(bytes ?? new Uint8Array(0)))
      const matcher = await (await Compiler.open(vocabulary)).matcher(ebnfOf(json(person)), [end], [])
      expect(sequence.stopReason).toBe('stop')
      for (const [i, token] of sequence.tokens.entries()) {
        const mask = await matcher.allowed()
        const allowed = vocabulary.flatMap((_, one) => ((mask[one >>> 5]! >>> (one & 31)) & 1 ? [one] : []))
        const input = [...prompt, ...sequence.tokens.slice(0, i)]
        const data = allowed.map((one) => ({
          input,
          target: [...input.slice(1), one],
          weights: input.map((_, at) => (at === input.length - 1 ? 1 : 0)),
        }))
        const { logprobs } = await trainer.forwardBackward(data, { kind: 'cross_entropy' })
        const free = logprobs.map((row) => present(row.at(-1), 'the last one'))
        const total = free.reduce((sum, one) => sum + Math.exp(one / temperature), 0)
        const own = present(free[allowed.indexOf(token)], 'the token')
        expect(sequence.logprobs[i]).toBeCloseTo(own, 3)
        expect(sequence.behaviourLogprobs[i]).toBeCloseTo(own / temperature - Math.log(total), 3)
        matcher.accept(token)
      }
      await trainer.close()
    },
    120_000,
  )

  it('leaves those beside it as they would be alone, and repeats bit for bit', async () => {
    const wanted = [
      {},
      { grammar: json(person) },
      { temperature: 0.5 },
      { grammar: json({ type: 'object' }), topP: 0.9 },
    ].map((more, seed) => ({ ...more, seed, maxTokens: 30 }))
    const together = await Promise.all(wanted.map((params) => sample(params)))
    const alone = []
    for (const params of wanted) alone.push(await sample(params))
    expect(together).toEqual(alone)
  }, 60_000)

  it('goes on over stop strings that do not come, and ends with one that does', async () => {
    const grammar = json({ type: 'array', items: { enum: ['ab', 'cd', 'abcd'] }, minItems: 3, maxItems: 6 })
    const free = await sample({ grammar, seed: 8 })
    // In stretches, rows of other shapes are computed: what they come to differs in its last bits.
    const inStretches = await sample({ grammar, seed: 8, stop: ['"e', 'bd', 'dX'] })
    expect(inStretches.tokens).toEqual(free.tokens)
    for (const [i, logprob] of inStretches.behaviourLogprobs.entries())
      expect(logprob).toBeCloseTo(present(free.behaviourLogprobs[i], 'the same'), 4)
    const text = textOf(free)
    const stopped = await sample({ grammar, seed: 8, stop: [text.slice(2, 5)] })
    expect(stopped.stopReason).toBe('stop')
    expect(free.tokens.slice(0, stopped.tokens.length)).toEqual(stopped.tokens)
    expect(stopped.tokens.length).toBeLessThan(free.tokens.length)
  }, 60_000)

  it('streams what it says whole, and ends at its length', async () => {
    const told: number[] = []
    const sequence = await sample({ grammar: json(person), maxTokens: 9 }, engine, {
      onTokens: ({ tokens }) => told.push(...tokens),
    })
    expect(told).toEqual(sequence.tokens)
    expect(sequence.stopReason).toBe('length')
    expect(textOf(sequence)).toMatch(/^\{\s*"/)
  })

  it('runs in every worker', async () => {
    const several = await open({ workers: 2, threadsPerWorker: 1 })
    const [...sequences] = await several.sampler.sample({
      prompt,
      adapter: null,
      samples: 6,
      params: { maxTokens: 150, stopTokens: [end], seed: 1, grammar: json(person) },
    })
    for (const sequence of sequences) if (sequence.stopReason === 'stop') JSON.parse(textOf(sequence))
    await several.close()
  }, 60_000)
})

describe('a grammar that cannot be held', () => {
  const unusable = { code: 'model/unusable-grammar' }

  it('is refused, and others go on', async () => {
    const before = sample({ grammar: json(person), maxTokens: 40 })
    const hostile: readonly JsonSchema[] = [
      { $ref: 'http://127.0.0.1/' },
      { enum: ['x'.repeat(10 ** 6)] },
      { type: 'string', pattern: '(' },
    ]
    for (const one of hostile) await expect(sample({ grammar: json(one) })).rejects.toMatchObject(unusable)
    const after = await sample({ grammar: json(person), maxTokens: 40 })
    expect(await before).toEqual(after)
  })

  it('is refused where no vocabulary is known, and without a stop token', async () => {
    const blind = await open({ blind: true, workers: 1 })
    expect(blind.sampler.capabilities.grammars).toBe(false)
    const invalid = { code: 'model/invalid-sample-request' }
    await expect(sample({ grammar: json({}) }, blind)).rejects.toMatchObject(invalid)
    await blind.close()
    expect(engine.sampler.capabilities.grammars).toBe(true)
    for (const stopTokens of [[], [1e9]])
      await expect(sample({ grammar: json({}), stopTokens })).rejects.toMatchObject(invalid)
  })

  it('ends where the model says so, whatever ends it has not are named beside', async () => {
    const { tokens, stopReason } = await sample({ grammar: json({ type: 'null' }), stopTokens: [end, 1e6, 1e9] })
    expect([stopReason, tokens.at(-1)]).toEqual(['stop', end])
  })

  it('fails alone when the vocabulary cannot spell it', async () => {
    const bytes = textOfTokens(model.tokenizer)
    const mute = await openEmbeddedEngine({
      model: model.weights,
      decode: (tokens) => model.tokenizer.decode(tokens),
      vocabulary: () => bytes.map((one) => (one?.includes(0x7a) ? null : one)),
      workers: 1,
    })
    const free = sample({ maxTokens: 30 }, mute)
    await expect(sample({ grammar: { kind: 'text', text: 'az' } }, mute)).rejects.toMatchObject(unusable)
    expect((await free).tokens.length).toBeGreaterThan(0)
    await mute.close()
  })
})
