import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { putSentenceModel } from '../../test/support/tiny-sentence-model.ts'
import type { Embedder } from '../core/index.ts'
import { openSentenceEmbedder } from './sentence-embedder.ts'

let models: string

beforeEach(() => {
  models = mkdtempSync(join(tmpdir(), 'ratchet-sentences-'))
  vi.stubEnv('RATCHET_MODELS', models)
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(models, { recursive: true })
})

const sentences = ['The fridge is too noisy.', 'My refrigerator hums.', 'The ferry is too late.'] as const

async function likeness(embedder: Embedder): Promise<(a: number, b: number) => number> {
  const vectors = await embedder.embed(sentences)
  expect(vectors.map(({ length }) => length)).toEqual(sentences.map(() => embedder.dimensions))
  return (a, b) => [...(vectors[a] ?? [])].reduce((sum, value, i) => sum + value * (vectors[b]?.[i] ?? 0), 0)
}

describe('a sentence model', () => {
  it('puts what means the same nearer than what is worded alike', async () => {
    const alike = await likeness(await openSentenceEmbedder({ model: putSentenceModel(join(models, 'own')) }))
    expect(alike(0, 0)).toBeCloseTo(1, 5)
    expect(alike(0, 1)).toBeCloseTo(1, 5)
    expect(alike(0, 2)).toBeCloseTo(0, 5)
  })

  it('is the same by its name and by its folder, and another with another limit', async () => {
    const folder = putSentenceModel(join(models, 'minilm'))
    const { name } = await openSentenceEmbedder({ model: 'minilm' })
    expect((await openSentenceEmbedder({ model: folder })).name).toBe(name)
    expect((await openSentenceEmbedder({ model: folder, maxTokens: 2 })).name).not.toBe(name)
  })

  it('reads no more tokens than it is to, and says nothing of what it does not know', async () => {
    const folder = putSentenceModel(join(models, 'own'))
    const [cut, unknown] = await (await openSentenceEmbedder({ model: folder, maxTokens: 1 })).embed([
      'fridge ferry',
      'x',
    ])
    expect([...(cut ?? [])]).toEqual([1, 0, 0, 0])
    expect([...(unknown ?? [])]).toEqual([0, 0, 0, 0])
  })
})

describe('is refused, with what to do', () => {
  it('where it was not pulled', async () => {
    await expect(openSentenceEmbedder({ model: 'minilm' })).rejects.toMatchObject({
      code: 'model/not-found',
      message: 'There is no sentence model "minilm": no folder has that name, and it was not pulled.',
      hint: 'Run: npx ratchet pull minilm',
    })
  })

  it('where a file of it is missing', async () => {
    const folder = putSentenceModel(join(models, 'minilm'))
    rmSync(join(folder, 'config.json'))
    await expect(openSentenceEmbedder({ model: 'minilm' })).rejects.toMatchObject({
      code: 'model/not-found',
      message: expect.stringContaining('no "config.json"'),
      hint: 'Run: npx ratchet pull minilm',
    })
    await expect(openSentenceEmbedder({ model: folder })).rejects.toMatchObject({
      code: 'model/not-found',
      hint: expect.stringContaining('tokenizer.json'),
    })
  })

  it.each(['/nowhere', 'minlm', '../minilm', ''])('where there is none: %j', async (model) => {
    await expect(openSentenceEmbedder({ model })).rejects.toMatchObject({
      code: 'model/not-found',
      message: expect.stringContaining(JSON.stringify(model)),
      hint: expect.stringContaining('Known names: minilm'),
    })
  })

  it('where it is a language model', async () => {
    await expect(openSentenceEmbedder({ model: 'smollm2-135m' })).rejects.toMatchObject({
      code: 'model/other-use',
      message: expect.stringMatching(/^"smollm2-135m" is a language model/),
      hint: expect.stringContaining('minilm'),
    })
  })

  it.each([
    ['config.json', 'no JSON'],
    ['config.json', '{"hidden_size":"4"}'],
    ['config.json', '{"hidden_size":5}'],
    ['tokenizer.json', '[]'],
    ['tokenizer.json', '{}'],
    ['onnx/model_quantized.onnx', 'not ONNX'],
  ])('where its %s is %j', async (file, content) => {
    const folder = putSentenceModel(join(models, 'own'))
    writeFileSync(join(folder, file), content)
    const used = openSentenceEmbedder({ model: folder }).then((embedder) => embedder.embed(sentences))
    await expect(used).rejects.toMatchObject({
      code: 'model/malformed-model',
      message: expect.stringContaining(folder),
    })
  })
})

const real = process.env['RATCHET_SENTENCE_MODEL'] ?? ''

// The model is 24 MB and no dependency: who has pulled it sets RATCHET_SENTENCE_MODEL to its folder.
describe.skipIf(real === '')('all-MiniLM-L6-v2', () => {
  let embedder: Embedder
  beforeAll(async () => {
    embedder = await openSentenceEmbedder({ model: real })
  })
  afterAll(() => vi.unstubAllEnvs())

  it('puts what means the same nearer than what is worded alike', async () => {
    const alike = await likeness(embedder)
    expect(alike(0, 0)).toBeCloseTo(1, 4)
    expect(alike(0, 1)).toBeGreaterThan(alike(0, 2))
  })
})
