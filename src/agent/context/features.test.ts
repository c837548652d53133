import { expect, it } from 'vitest'
import type { AssistantMessage } from '../../core/index.ts'
import { lexicalEmbedder } from '../memory/index.ts'
import { featuresOf, type Kept, keepFeatures } from './features.ts'
import { TextVectors } from '../memory/text-vectors.ts'

const vectors = new TextVectors(lexicalEmbedder())
const features = (change: Partial<Kept> & { readonly content?: string } = {}) => {
  const { content = 'The courier left parcel XK417 at the depot.', ...rest } = change
  const kept = { result: { role: 'tool', name: 'open', content } as const, tokens: 63, age: 4, since: [], ...rest }
  return featuresOf(kept, 'Where is the parcel?', vectors)
}
const said = (content: string): AssistantMessage => ({ role: 'assistant', content })

it('has age and size in logarithmic and linear steps, within −1 and 1', async () => {
  const [age, size] = await features()
  // Four turns are half of eight, and 64 is 2⁶.
  expect([age, size]).toEqual([-0.5, 0])
  expect((await features({ age: 99, tokens: 1e9 })).slice(0, 2)).toEqual([1, 1])
  expect((await features({ age: 0, tokens: 0 })).slice(0, 2)).toEqual([-1, -1])
})

it('tells whether the policy used a word of it that the task does not hold', async () => {
  const used = async (...since: readonly AssistantMessage[]) => (await features({ since }))[2]
  expect(await used()).toBe(-1)
  expect(await used(said('Let me look for the parcel.'))).toBe(-1)
  expect(await used(said('I ask for xk417.'), said('Done.'))).toBe(1)
  const call = { role: 'assistant', content: '', toolCalls: [{ name: 'track', arguments: { id: 'XK417' } }] } as const
  expect(await used({ ...call, toolCalls: [...call.toolCalls] })).toBe(1)
})

it('tells errors, likeness to the task and to what was said last, and tools apart', async () => {
  const near = await features({ since: [said('A depot and a courier')] })
  const far = await features({ content: 'Bees make honey.', since: [said('A depot and a courier')] })
  expect(near[4]).toBeGreaterThan(far[4] ?? 1)
  expect(near[5]).toBeGreaterThan(far[5] ?? 1)
  expect(near[3]).toBe(-1)
  const failed = { role: 'tool', name: 'track', content: 'no such parcel', isError: true } as const
  const other = await features({ result: failed })
  expect(other[3]).toBe(1)
  expect(other.slice(6).reduce((sum, one) => sum + one, 0)).toBe(1)
  expect(other.slice(6)).not.toEqual(near.slice(6))
  expect(other.length).toBe(keepFeatures)
})
