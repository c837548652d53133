import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CanaryId, type ChatChunk, type ChatCompletion, type ChatRequest, ReleaseId } from '../../../core/index.ts'
import { notLoadedError } from '../../../../test/support/unserved.ts'
import { problemOf } from '../../http/problem.ts'
import { alikeTo } from './alike.ts'

const request: ChatRequest = { model: 'support', messages: [{ role: 'user', content: 'Where is it?' }] }
const canary = { id: CanaryId.parse('c_1'), arm: 'candidate' as const, propensity: 0.1 }
const release = ReleaseId.parse('r_1')
const answer = (inCanary = true) =>
  alikeTo({ served: { release, canary: inCanary ? canary : null }, request, call: 'c_0123', created: 7 })

type Delta = ChatChunk['choices'][number]['delta']
const chunk = (delta: Delta, finish_reason: string | null = null): ChatChunk => ({
  id: 'x',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'adapter',
  choices: [{ index: 0, delta, finish_reason }],
})
/** A text in pieces of any length. */
const cut = (text: string, at: readonly number[]) => {
  const ends = [...new Set(at.map((one) => one % (text.length + 1))), text.length].toSorted((a, b) => a - b)
  return ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end))
}
const told = (chunks: readonly ChatChunk[]) => {
  const alike = answer()
  return [...chunks.flatMap((one) => alike.chunks(alike.taken.chunk(one))), ...alike.rest()]
}
const deltas = (chunks: readonly ChatChunk[]) => chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))

describe('a stream', () => {
  it('is told in the same pieces, however it comes, and loses nothing', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.lorem({ maxCount: 12 }),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
    )
    const cuts = fc.array(fc.nat(200), { maxLength: 12 })
    fc.assert(
      fc.property(text, text, text, cuts, cuts, (thought, said, args, one, other) => {
        const stream = (at: readonly number[]) => [
          ...cut(thought, at).map((reasoning_content) => chunk({ reasoning_content })),
          ...cut(said, at).map((content) => chunk({ content })),
          chunk({ tool_calls: [{ index: 3, id: 'own', function: { name: 'find', arguments: '' } }] }),
          ...cut(args, at).map((text) => chunk({ tool_calls: [{ index: 3, function: { arguments: text } }] })),
          chunk({}, 'eos'),
        ]
        const seen = told(stream(one))
        expect(seen).toEqual(told(stream(other)))
        const whole = (of: (delta: Delta) => string | null | undefined) =>
          deltas(seen)
            .map((delta) => of(delta) ?? '')
            .join('')
        expect(whole(({ reasoning_content }) => reasoning_content)).toBe(thought)
        expect(whole(({ content }) => content)).toBe(said)
        expect(whole(({ tool_calls }) => tool_calls?.[0]?.function?.arguments)).toBe(args)
      }),
      { numRuns: 200 },
    )
  })

  it('tells its fields and no others', () => {
    const own = {
      ...chunk({ content: 'Here it is.', audio: { id: 'a' } }, 'stop'),
      system_fingerprint: 'fp_1',
      service_tier: 'flex',
    }
    const seen = told([own])
    expect(new Set(seen.flatMap((one) => Object.keys(one)))).toEqual(
      new Set(['id', 'object', 'created', 'model', 'choices', 'usage']),
    )
    expect(seen[0]).toEqual({
      id: '',
      object: 'chat.completion.chunk',
      created: 7,
      model: 'support',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    })
    expect(deltas(seen).map(({ content }) => content)).toEqual(['', 'Here', ' it', ' is.', undefined])
  })

  it('takes more words and log-probabilities in one chunk than a call takes arguments', () => {
    const content = Array.from({ length: 200_000 }, () => ({ token: '', logprob: -1 }))
    const text = 'a '.repeat(200_000)
    const [choice] = chunk({ content: text }).choices
    const seen = told([
      { ...chunk({}), choices: [{ ...choice, index: 0, delta: { content: text }, logprobs: { content } }] },
    ])
    expect(
      deltas(seen)
        .map((delta) => delta.content ?? '')
        .join(''),
    ).toBe(text)
  })

  it('that breaks off tells what it held back', () => {
    const alike = answer()
    expect(deltas(alike.chunks(chunk({ content: 'Half a wor' }))).map(({ content }) => content)).toEqual([
      '',
      'Half',
      ' a',
    ])
    expect(deltas(alike.flush())).toEqual([{ content: ' wor' }])
  })
})

describe('a whole answer', () => {
  const completion = (more: object = {}): ChatCompletion => ({
    id: 'gen-1',
    object: 'chat.completion',
    created: 1,
    model: 'ratchet-0123',
    system_fingerprint: 'fp_1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'toolu_1', type: 'function', index: 4, function: { name: 'find', arguments: '{}' } }],
        },
        finish_reason: 'stop',
        stop_reason: 5,
      },
    ],
    usage: { prompt_tokens: 500, completion_tokens: 6, prompt_tokens_details: { cached_tokens: 16 } },
    ...more,
  })

  it('tells its fields and no others, and ids of calls that are the record’s', () => {
    const alike = answer()
    const taken = alike.taken.whole(completion())
    expect(alike.whole(taken)).toEqual({
      id: '',
      object: 'chat.completion',
      created: 7,
      model: 'support',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            refusal: null,
            tool_calls: [{ id: 'call_0123_0_0', type: 'function', function: { name: 'find', arguments: '{}' } }],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 14, completion_tokens: 2, total_tokens: 16 },
    })
    expect(taken.choices[0]?.message.tool_calls?.[0]?.id).toBe('call_0123_0_0')
    expect(taken).toMatchObject({ model: 'ratchet-0123', usage: { prompt_tokens: 500 } })
  })

  it('tells what the upstream counted where no canary runs, and while one does what the texts are long', () => {
    const { usage } = answer(false).whole(completion())
    expect(usage).toEqual({ prompt_tokens: 500, completion_tokens: 6, total_tokens: 506 })
    expect(answer().whole(completion({ usage: null })).usage).toEqual(answer().whole(completion()).usage)
  })
})

describe('a failure', () => {
  it('of an adapter that is not served is told as any other, and names none', () => {
    const error = notLoadedError('ratchet-0123456789abcdef01234567')
    const { status, body } = answer().problem(error, problemOf(error))
    expect(status).toBe(502)
    expect(JSON.stringify(body)).not.toMatch(/adapter|ratchet-/)
    expect(body).toMatchObject({ error: { code: 'model/upstream-failed' } })
  })
})
