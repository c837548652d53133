import { expect, it } from 'vitest'
import { validateRequest } from './validate-request.ts'

const limits = { model: 'm', vocabularySize: 10, contextLength: 8, deterministic: false }
const nearest = { datastore: { kind: 'datastore', id: 'd' }, weight: 0.2, neighbours: 4, temperature: 10 } as const

it('a sampler that mixes in no datastore refuses a request that names one', () => {
  const request = { prompt: [1], adapter: null, params: { maxTokens: 1, nearest } }
  expect(() => validateRequest(request, limits)).toThrow('mixes in no datastore')
  expect(() => validateRequest(request, { ...limits, datastores: true })).not.toThrow()
})

it('a sampler that holds to no grammar refuses a request that has one', () => {
  const params = { maxTokens: 1, stopTokens: [0], grammar: { kind: 'text', text: 'a' } } as const
  const request = { prompt: [1], adapter: null, params }
  expect(() => validateRequest(request, limits)).toThrow('holds no sequence to a grammar')
  expect(() => validateRequest(request, { ...limits, grammars: true })).not.toThrow()
})

it.each([1e-40, 1e-50, 1e39, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  'a temperature of %d, which float32 cannot divide by, is refused by name',
  (temperature) => {
    const request = { prompt: [1], adapter: null, params: { maxTokens: 1, temperature } }
    expect(() => validateRequest(request, limits)).toThrow(/temperature/)
  },
)

it.each([0, 1e-20, 1, 1e4])('a temperature of %d is taken', (temperature) => {
  const request = { prompt: [1], adapter: null, params: { maxTokens: 1, temperature } }
  expect(() => validateRequest(request, limits)).not.toThrow()
})
