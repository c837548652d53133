import { describe, expect, it } from 'vitest'
import { type ChatRequest, Propensity, SampledSpan } from '../../core/index.ts'
import type { AnsweredChoice } from '../ports.ts'
import { drawnAsIs, drawnOf } from './sampling.ts'

const request = (more: object = {}): ChatRequest => ({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  ...more,
})
const choice = (more: Partial<AnsweredChoice> = {}): AnsweredChoice => ({
  index: 0,
  message: { role: 'assistant', content: 'ab' },
  finish: 'stop',
  tokens: [1, 2],
  logprobs: [-0.5, -0.25],
  behaviourLogprobs: null,
  ...more,
})
const explicit = { temperature: 1, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 }

describe('tokens are drawn as the model has it', () => {
  it('where the request says so of everything that a model’s own settings could say otherwise', () => {
    expect(drawnAsIs(request(explicit), true)).toBe(true)
    expect(drawnAsIs(request(), false)).toBe(true)
    for (const key of Object.keys(explicit)) {
      expect(drawnAsIs(request({ ...explicit, [key]: undefined }), true), key).toBe(false)
    }
  })

  it.each([
    { n: 2, stream: true, seed: 7, user: 'jo', logit_bias: {}, response_format: { type: 'text' }, tool_choice: 'auto' },
    { stop: ['x'], max_tokens: 5, logprobs: true, top_logprobs: 3, presence_penalty: 0, logit_bias: null },
  ])('beside %j', (more) => {
    expect(drawnAsIs(request({ ...explicit, ...more }), true)).toBe(true)
  })

  it.each<object>([
    { temperature: 0.7 },
    { top_p: 0.9 },
    { top_k: 20 },
    { min_p: 0.1 },
    { frequency_penalty: 0.5 },
    { logit_bias: { 5: 1 } },
    { response_format: { type: 'json_object' } },
    { tool_choice: 'required' },
    { guided_json: {} },
    { min_tokens: 5 },
    { nobody_knows: true },
    { constructor: 1 },
  ])('not with %j', (more) => {
    expect(drawnAsIs(request({ ...explicit, ...more }), true)).toBe(false)
    expect(drawnAsIs(request(more), false)).toBe(false)
  })
})

describe('what an upstream tells of an answer', () => {
  it('is kept as told', () => {
    const { span, propensity } = drawnOf(
      choice({ behaviourLogprobs: [-0.1, -0.2] }),
      request({ temperature: 0.5, top_p: 0.9 }),
      true,
    )
    expect(span).toEqual({
      kind: 'sampled',
      tokens: [1, 2],
      behaviourLogprobs: [-0.1, -0.2],
      logprobs: [-0.5, -0.25],
      sampling: { temperature: 0.5, truncated: true },
    })
    expect(propensity.log).toBeCloseTo(-0.3)
  })

  it('is what they were drawn with only when that is certain', () => {
    expect(drawnOf(choice(), request(explicit), true)).toMatchObject({
      span: { behaviourLogprobs: [-0.5, -0.25] },
      propensity: { log: -0.75 },
    })
    expect(drawnOf(choice(), request({ temperature: 1 }), true)).toMatchObject({
      span: { behaviourLogprobs: null },
      propensity: { log: null, reason: 'not-recorded' },
    })
  })

  it.each<[object, boolean]>([
    [{ tool_choice: 'required' }, true],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, true],
    [{ response_format: { type: 'json_object' } }, true],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, true],
    [{ response_format: { type: 'text' }, tool_choice: 'auto' }, false],
    [{ tool_choice: 'none' }, false],
  ])('is truncated where a form left tokens out: %j', (more, truncated) => {
    const told = choice({ behaviourLogprobs: [-0.1, -0.2] })
    expect(drawnOf(told, request(more), false).span?.sampling).toEqual({ temperature: 1, truncated })
  })

  it('may be rounded above zero, and is still what the store can hold', () => {
    const { span, propensity } = drawnOf(choice({ behaviourLogprobs: [1e-4, 2e-5] }), request(), true)
    expect(SampledSpan.parse(span).behaviourLogprobs).toEqual([0, 0])
    expect(Propensity.parse(propensity)).toEqual({ log: 0 })
  })

  it.each([
    ['no tokens', { tokens: null, logprobs: null }, 'closed-api'],
    ['tokens without their log-probabilities', { logprobs: null }, 'not-recorded'],
    ['an empty answer', { tokens: [], logprobs: [] }, 'not-recorded'],
    ['fewer log-probabilities than tokens', { logprobs: [-1] }, 'not-recorded'],
    ['what is no log-probability', { logprobs: [0.5, -1] }, 'not-recorded'],
    ['infinities', { logprobs: [Number.NEGATIVE_INFINITY, -1] }, 'not-recorded'],
  ])('leaves no span of %s', (_, more, reason) => {
    expect(drawnOf(choice(more), request(explicit), true)).toEqual({ span: null, propensity: { log: null, reason } })
  })
})
