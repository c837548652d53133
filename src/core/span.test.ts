import { expect, it } from 'vitest'
import { encodedSpan, sampledSpan } from '../../test/support/trajectories.ts'
import { Span } from './span.ts'

it('reads sampled and encoded tokens unchanged', () => {
  for (const span of [sampledSpan([1, 2]), encodedSpan([]), sampledSpan([])]) expect(Span.parse(span)).toEqual(span)
})

it.each([
  ['ragged log-probabilities', { ...sampledSpan([1, 2]), logprobs: [-1] }],
  ['ragged behaviour log-probabilities', { ...sampledSpan([1, 2]), behaviourLogprobs: [-1, -1, -1] }],
  ['a probability above 1', sampledSpan([1], 0.5)],
  ['a probability of zero', sampledSpan([1], Number.NEGATIVE_INFINITY)],
  ['a token that is no whole number', encodedSpan([1.5])],
  ['a negative token', encodedSpan([-1])],
  ['a negative temperature', sampledSpan([1], -1, -0.1)],
  ['encoded tokens with log-probabilities', { ...encodedSpan([1]), logprobs: [-1] }],
])('refuses %s', (_, span) => {
  expect(Span.safeParse(span).success).toBe(false)
})
