import { expect, it } from 'vitest'
import { lexicalEmbedder } from './lexical.ts'
import { dot } from '../../core/index.ts'

const embedder = lexicalEmbedder()
const cosine = async (a: string, b: string) => {
  const [x = new Float32Array(), y = new Float32Array()] = await embedder.embed([a, b])
  return dot(x, y)
}

it('is 1 for the same words, in whatever case and order', async () => {
  expect(await cosine('Refund the kettle', 'the KETTLE: refund!')).toBeCloseTo(1, 5)
})

it('puts what is of one matter nearer than what is worded alike', async () => {
  const about = await cosine('Where do I go with a broken kettle?', 'My kettle is broken')
  const worded = await cosine('Where do I go with a broken kettle?', 'Where do I go with an expired voucher?')
  expect(about).toBeGreaterThan(0.35)
  expect(worded).toBeLessThan(0.35)
})

it('knows a word in its other forms', async () => {
  expect(await cosine('refund', 'refunds')).toBeGreaterThan((await cosine('refund', 'voucher')) + 0.15)
})

it('says nothing of a text without words', async () => {
  expect(await cosine('…!', '…!')).toBe(0)
})
