import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChatCompletion } from './chat-completion.ts'
import { plainCompletion } from './plain-completion.ts'

const message = { role: 'assistant', content: 'Hi', refusal: null }
const choice = { index: 0, message, logprobs: null, finish_reason: 'stop' }
const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4, prompt_tokens_details: { cached_tokens: 0 } }
const said = { id: 'chatcmpl-1', object: 'chat.completion', created: 7, model: 'm', choices: [choice], usage }

const withChoice = (more: object) => ({ ...said, choices: [{ ...choice, ...more }] })
const withMessage = (more: object) => withChoice({ message: { ...message, ...more } })

describe('an answer of words alone', () => {
  it('is taken as it is', () => {
    expect(plainCompletion(said)).toBe(said)
    const bare = { ...said, usage: undefined, choices: [{ index: 0, message: { role: 'assistant' } }] }
    expect(plainCompletion(bare)).toBe(bare)
  })

  it.each([
    ['tokens of the prompt', { ...said, prompt_token_ids: [1] }],
    ["tokens of the prompt at its choice, as SGLang's", withChoice({ prompt_token_ids: [1] })],
    ['tokens', withChoice({ token_ids: [1] })],
    ['log-probabilities', withChoice({ logprobs: { content: [] } })],
    ['facts of the engine', withChoice({ engine: {} })],
    ['a call', withMessage({ tool_calls: [] })],
    ['no role', withMessage({ role: undefined })],
    ['content that is no text', withMessage({ content: [] })],
    ['a usage that is none', { ...said, usage: { prompt_tokens: -1, completion_tokens: 0 } }],
    ['half a usage', { ...said, usage: { prompt_tokens: 1 } }],
    [
      'cached tokens that are no number',
      { ...said, usage: { ...usage, prompt_tokens_details: { cached_tokens: '0' } } },
    ],
    ['no kind', { ...said, object: undefined }],
    ['too many choices', { ...said, choices: Array.from({ length: 1_000 }, () => choice) }],
    [
      'a prototype',
      JSON.parse('{"__proto__":{},"id":"x","object":"chat.completion","created":1,"model":"m","choices":[]}'),
    ],
  ])('is none with %s: the schema says what it is', (_, value) => {
    expect(plainCompletion(value)).toBeNull()
  })

  it('is one that the schema takes, and leaves as it is', () => {
    const odd = fc.oneof(
      fc.constantFrom(null, undefined, '', 'stop', 0, -1, 1.5, Number.NaN, true, [], {}, [1], 'chat.completion'),
      fc.jsonValue(),
    )
    const sometimes = (good: unknown) => fc.oneof({ weight: 15, arbitrary: fc.constant(good) }, odd)
    const often = (good: fc.Arbitrary<unknown>) => fc.oneof({ weight: 15, arbitrary: good }, odd)
    const optional = { requiredKeys: [] as never[] }
    const anyMessage = fc.record(
      {
        role: sometimes('assistant'),
        content: sometimes('a'),
        refusal: sometimes(null),
        reasoning_content: sometimes('b'),
        tool_calls: sometimes(null),
        x: odd,
      },
      { requiredKeys: ['role'] },
    )
    const anyChoice = fc.record(
      {
        index: sometimes(0),
        message: often(anyMessage),
        finish_reason: sometimes('stop'),
        logprobs: sometimes(null),
        token_ids: sometimes(undefined),
        engine: sometimes(null),
        x: odd,
      },
      { requiredKeys: ['index', 'message'] },
    )
    const anyUsage = fc.record(
      {
        prompt_tokens: sometimes(1),
        completion_tokens: sometimes(2),
        total_tokens: sometimes(3),
        prompt_tokens_details: often(fc.record({ cached_tokens: sometimes(0) }, optional)),
        x: odd,
      },
      { requiredKeys: ['prompt_tokens', 'completion_tokens'] },
    )
    const completion = fc.record(
      {
        id: sometimes('i'),
        object: sometimes('chat.completion'),
        created: sometimes(1),
        model: sometimes('m'),
        choices: often(fc.array<unknown>(anyChoice, { maxLength: 2 })),
        usage: often(anyUsage),
        x: odd,
      },
      { requiredKeys: ['id', 'object', 'created', 'model', 'choices'] },
    )
    let taken = 0
    fc.assert(
      fc.property(completion, (value) => {
        const plain = plainCompletion(value)
        if (plain === null) return
        taken++
        expect(ChatCompletion.parse(value)).toEqual(plain)
      }),
      { numRuns: 3_000 },
    )
    expect(taken).toBeGreaterThan(100)
  })
})
