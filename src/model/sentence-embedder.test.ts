import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openSentenceEmbedder } from './sentence-embedder.ts'

it('says which file is missing', async () => {
  await expect(openSentenceEmbedder({ folder: '/nowhere' })).rejects.toMatchObject({
    code: 'model/not-found',
    message: expect.stringContaining('/nowhere'),
  })
})

const folder = process.env['RATCHET_SENTENCE_MODEL'] ?? ''

// The model is 23 MB and no dependency: who has it names its folder.
describe.skipIf(!existsSync(folder))('with a model', () => {
  it('puts what means the same nearer than what is worded alike', async () => {
    const embedder = await openSentenceEmbedder({ folder })
    const [a, b, c] = await embedder.embed([
      'The fridge is too noisy.',
      'My refrigerator hums.',
      'The ferry is too late.',
    ])
    const cosine = (x: Float32Array | undefined, y: Float32Array | undefined) =>
      [...(x ?? [])].reduce((sum, value, i) => sum + value * (y?.[i] ?? 0), 0)
    expect(a).toHaveLength(embedder.dimensions)
    expect(cosine(a, a)).toBeCloseTo(1, 4)
    expect(cosine(a, b)).toBeGreaterThan(cosine(a, c))
  })
})
