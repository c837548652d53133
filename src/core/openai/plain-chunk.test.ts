import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChatChunk } from './chat-completion.ts'
import { plainChunk } from './plain-chunk.ts'

const said = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 7,
  model: 'm',
  system_fingerprint: 'fp',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, logprobs: null, finish_reason: null }],
}

describe('a chunk of words alone', () => {
  it('is taken as it is', () => {
    expect(plainChunk(said)).toBe(said)
    const end = { ...said, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    expect(plainChunk(end)).toBe(end)
  })

  it.each([
    ['usage', { ...said, usage: { prompt_tokens: 1 } }],
    ['tokens of the prompt', { ...said, prompt_token_ids: [1] }],
    ['a call', { ...said, choices: [{ index: 0, delta: { tool_calls: [] } }] }],
    ['log-probabilities', { ...said, choices: [{ index: 0, delta: {}, logprobs: { content: [] } }] }],
    ['no delta', { ...said, choices: [{ index: 0 }] }],
    ['no kind', { ...said, object: undefined }],
    [
      'a prototype',
      JSON.parse('{"__proto__":{},"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[]}'),
    ],
  ])('is none with %s: the schema says what it is', (_, value) => {
    expect(plainChunk(value)).toBeNull()
  })

  it('is one that the schema takes, and leaves as it is', () => {
    const odd = fc.oneof(
      fc.constantFrom(
        null,
        undefined,
        '',
        'stop',
        0,
        -1,
        1.5,
        Number.POSITIVE_INFINITY,
        true,
        [],
        {},
        [1],
        'chat.completion.chunk',
      ),
      fc.jsonValue(),
    )
    const sometimes = (good: unknown) => fc.oneof({ weight: 9, arbitrary: fc.constant(good) }, odd)
    const optional = { requiredKeys: [] as never[] }
    const delta = fc.record(
      {
        role: sometimes('assistant'),
        content: sometimes('a'),
        refusal: sometimes(null),
        tool_calls: sometimes(null),
        x: odd,
      },
      optional,
    )
    const choice = fc.record(
      {
        index: sometimes(0),
        delta: fc.oneof({ weight: 9, arbitrary: delta }, odd),
        finish_reason: sometimes('stop'),
        logprobs: sometimes(null),
        token_ids: sometimes(undefined),
        engine: sometimes(null),
        x: odd,
      },
      optional,
    )
    const chunk = fc.record(
      {
        id: sometimes('i'),
        object: sometimes('chat.completion.chunk'),
        created: sometimes(1),
        model: sometimes('m'),
        choices: fc.oneof({ weight: 9, arbitrary: fc.array<unknown>(choice, { maxLength: 2 }) }, odd),
        usage: sometimes(null),
        x: odd,
      },
      optional,
    )
    let taken = 0
    fc.assert(
      fc.property(chunk, (value) => {
        const plain = plainChunk(value)
        if (plain === null) return
        taken++
        expect(ChatChunk.parse(value)).toEqual(plain)
      }),
      { numRuns: 3_000 },
    )
    expect(taken).toBeGreaterThan(100)
  })
})
