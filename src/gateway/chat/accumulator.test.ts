import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChatChunk, ChatCompletion } from '../../core/index.ts'
import { Accumulator } from './accumulator.ts'
import { chunksOf } from './chunks.ts'

const clock = { now: () => 1_000 }

type Completion = (typeof ChatCompletion)['_zod']['output']
type Choice = Completion['choices'][number]
type Piece = ChatChunk['choices'][number]

const accumulated = (chunks: Iterable<ChatChunk>) => {
  const accumulator = new Accumulator('up', clock)
  for (const chunk of chunks) accumulator.add(chunk)
  return accumulator.answer()
}
const ofWhole = (completion: Completion) => {
  const accumulator = new Accumulator('up', clock)
  accumulator.addWhole(completion)
  return accumulator.answer()
}

const toolCall = fc.record({
  id: fc.string({ minLength: 1 }),
  type: fc.constant('function'),
  function: fc.record({ name: fc.string({ minLength: 1 }), arguments: fc.oneof(fc.json(), fc.string()) }),
})

/** A choice, with as many tokens as it says, and log-probabilities of them. */
const choice = fc
  .record({
    content: fc.option(fc.string()),
    refusal: fc.option(fc.string()),
    reasoning_content: fc.option(fc.string()),
    tool_calls: fc.option(fc.array(toolCall, { maxLength: 3 })),
    finish_reason: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'function_call', 'eos'),
    tokens: fc.array(fc.tuple(fc.nat(), fc.double({ max: 0, noNaN: true, noDefaultInfinity: true })), { maxLength: 5 }),
    tells: fc.boolean(),
    behaves: fc.boolean(),
  })
  .map(({ content, refusal, reasoning_content, tool_calls, finish_reason, tokens, tells, behaves }) => {
    const logprobs = tokens.map(([, logprob]) => logprob)
    return {
      index: 0,
      message: { role: 'assistant' as const, content, refusal, reasoning_content, tool_calls },
      finish_reason,
      logprobs: tells ? { content: logprobs.map((logprob) => ({ token: 'x', logprob })) } : null,
      token_ids: tells ? tokens.map(([id]) => id) : null,
      engine: behaves ? { behaviour_logprobs: logprobs } : null,
    }
  })

const completion = fc
  .record({
    choices: fc.array(choice, { minLength: 1, maxLength: 3 }),
    prompt: fc.option(fc.array(fc.nat())),
    cached: fc.option(fc.nat()),
  })
  .map(
    ({ choices, prompt, cached }): Completion => ({
      id: 'up-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: choices.map((choice, index) => ({ ...choice, index })),
      prompt_token_ids: prompt,
      usage: {
        prompt_tokens: 1,
        completion_tokens: choices.reduce((sum, { token_ids }) => sum + (token_ids?.length ?? 0), 0),
        ...(cached === null ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
      },
    }),
  )

/** Cuts text into pieces at arbitrary places. */
const cut = (text: string, cuts: readonly number[]): string[] => {
  const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...at].map((start, i) => text.slice(start, at[i])).filter((piece) => piece !== '')
}

/** What a choice says, in the smallest pieces that the cuts make of it. Tokens come with whatever comes first. */
function piecesOf(choice: Choice, cuts: readonly number[]): Piece[] {
  const { index, message, logprobs, token_ids, engine, finish_reason } = choice
  const deltas: Piece['delta'][] = [{ role: 'assistant', content: '' }]
  for (const field of ['reasoning_content', 'content', 'refusal'] as const) {
    for (const piece of cut(message[field] ?? '', cuts)) deltas.push({ [field]: piece })
  }
  for (const [i, { id, function: called }] of (message.tool_calls ?? []).entries()) {
    deltas.push({ tool_calls: [{ index: i, id, type: 'function', function: { name: called.name, arguments: '' } }] })
    for (const piece of cut(called.arguments, cuts)) {
      deltas.push({ tool_calls: [{ index: i, function: { arguments: piece } }] })
    }
  }
  const tells = token_ids !== null && token_ids !== undefined
  const pieces = deltas.map((delta, i): Piece => {
    // One token with each piece, the rest with the last.
    const slice = <T>(values: readonly T[] | null | undefined) =>
      values?.slice(i, i === deltas.length - 1 ? values.length : i + 1)
    return {
      index,
      delta,
      finish_reason: null,
      ...(tells ? { token_ids: slice(token_ids) } : {}),
      ...(logprobs ? { logprobs: { content: slice(logprobs.content) } } : {}),
      ...(engine ? { engine: { behaviour_logprobs: slice(engine.behaviour_logprobs) } } : {}),
    }
  })
  return [...pieces, { index, delta: {}, finish_reason }]
}

/** The pieces of all choices, each in its order, dealt into chunks as `deal` says. */
function streamOf(whole: Completion, cuts: readonly number[], deal: readonly number[]): ChatChunk[] {
  const { choices, usage, prompt_token_ids, ...head } = whole
  const queues = choices.map((choice) => piecesOf(choice, cuts))
  const chunks: ChatChunk[] = [{ ...head, object: 'chat.completion.chunk', choices: [], prompt_token_ids }]
  for (let turn = 0; queues.some(({ length }) => length > 0); turn += 1) {
    const waiting = queues.filter(({ length }) => length > 0)
    const number = deal[turn % deal.length] ?? 0
    const together = number % 3 === 0 ? waiting : [waiting[number % waiting.length] ?? []]
    const pieces = together.flatMap((queue) => queue.splice(0, 1))
    chunks.push({ ...head, object: 'chat.completion.chunk', choices: pieces })
  }
  chunks.push({ ...head, object: 'chat.completion.chunk', choices: [], usage })
  return chunks.map((chunk) => ChatChunk.parse(JSON.parse(JSON.stringify(chunk))))
}

const settled = (answer: ReturnType<typeof accumulated>) => ({ ...answer, firstTokenAt: null })

describe('an answer', () => {
  it('is the same whole and in any pieces', () => {
    fc.assert(
      fc.property(
        completion,
        fc.array(fc.nat(), { maxLength: 6 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
        (whole, cuts, deal) => {
          const parsed = ChatCompletion.parse(JSON.parse(JSON.stringify(whole)))
          expect(settled(accumulated(streamOf(whole, cuts, deal)))).toEqual(ofWhole(parsed))
          expect(settled(accumulated(chunksOf(parsed)))).toEqual(ofWhole(parsed))
        },
      ),
      { numRuns: 500 },
    )
  })
})

const chunk = (choices: readonly object[], more: object = {}): ChatChunk =>
  ChatChunk.parse({ id: 'c', created: 1, model: 'm', choices, ...more })

describe('tokens', () => {
  const said = (content: string, token_ids?: number[] | null) => ({ index: 0, delta: { content }, token_ids })
  const tokensOf = (...chunks: ChatChunk[]) => accumulated(chunks).choices[0]?.tokens

  it('are known when all of them were told', () => {
    expect(tokensOf(chunk([said('', [])]), chunk([said('a', [1, 2])]), chunk([said('', [3])]))).toEqual([1, 2, 3])
  })

  it('are unknown when text came without them', () => {
    expect(tokensOf(chunk([said('a', [1])]), chunk([said('b')]))).toBeNull()
  })

  it('are unknown when the upstream counted others', () => {
    const end = { index: 0, delta: {}, finish_reason: 'stop' }
    const usage = (completion_tokens: number) => chunk([], { usage: { prompt_tokens: 1, completion_tokens } })
    expect(tokensOf(chunk([said('a', [1])]), chunk([end]), usage(1))).toEqual([1])
    expect(tokensOf(chunk([said('a', [1])]), chunk([end]), usage(2))).toBeNull()
  })

  it('have log-probabilities only when each has one', () => {
    const logprobs = { content: [{ token: 'a', logprob: -1 }] }
    const one = accumulated([chunk([{ ...said('a', [1]), logprobs }])]).choices[0]
    expect(one?.logprobs).toEqual([-1])
    const two = accumulated([chunk([{ ...said('a', [1, 2]), logprobs }])]).choices[0]
    expect(two).toMatchObject({ tokens: [1, 2], logprobs: null, behaviourLogprobs: null })
  })
})

describe('what upstreams say in their own ways', () => {
  it.each([
    ['stop', 'stop'],
    ['function_call', 'tool_calls'],
    ['max_tokens', 'length'],
    ['end_turn', 'stop'],
    ['__proto__', 'stop'],
    [null, null],
  ])('finish reason %s is %s', (finish_reason, finish) => {
    expect(accumulated([chunk([{ index: 0, delta: { content: 'x' }, finish_reason }])]).choices[0]?.finish).toBe(finish)
  })

  it('a function call of the old kind is a tool call', () => {
    const deltas = [{ function_call: { name: 'f', arguments: '{"a"' } }, { function_call: { arguments: ': 1}' } }]
    const answer = accumulated(deltas.map((delta) => chunk([{ index: 0, delta }])))
    expect(answer.choices[0]?.message.toolCalls).toEqual([{ name: 'f', arguments: { a: 1 } }])
  })

  it('thoughts may be called reasoning', () => {
    expect(accumulated([chunk([{ index: 0, delta: { reasoning: 'hm' } }])]).choices[0]?.message.reasoning).toBe('hm')
  })

  it('calls and choices come in any order', () => {
    const call = (index: number) => ({ index, function: { name: `f${index}`, arguments: '{}' } })
    const answer = accumulated([
      chunk([{ index: 7, delta: { content: 'b' } }]),
      chunk([{ index: 2, delta: { tool_calls: [call(1_000_000), call(3)] } }]),
    ])
    expect(answer.choices.map(({ index }) => index)).toEqual([2, 7])
    expect(answer.choices[0]?.message.toolCalls?.map(({ name }) => name)).toEqual(['f3', 'f1000000'])
  })
})

it('knows when its first token came, and when it is whole', () => {
  const accumulator = new Accumulator('up', clock)
  expect(accumulator.empty).toBe(true)
  accumulator.add(chunk([{ index: 0, delta: { role: 'assistant', content: '' } }]))
  expect(accumulator).toMatchObject({ empty: false, complete: false, finished: 0, firstTokenAt: null })
  accumulator.add(chunk([{ index: 0, delta: { content: 'x' } }]))
  expect(accumulator.firstTokenAt).toBe(1_000)
  accumulator.add(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]))
  expect(accumulator).toMatchObject({ complete: true, finished: 1 })
})

it('keeps what the embedded engine alone tells: the last chunk says how the turn ended and what was no call', () => {
  const malformed = { text: '<tool_call>oops', problem: 'It does not end.' }
  const whole = ChatCompletion.parse({
    id: 'x',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { content: '<tool_call>oops' },
        finish_reason: 'stop',
        engine: { malformed_calls: [malformed], closed_turn: false },
      },
    ],
  })
  for (const answer of [ofWhole(whole), accumulated(chunksOf(whole))]) {
    expect(answer.choices[0]).toMatchObject({ closedTurn: false, message: { malformedCalls: [malformed] } })
  }
  const silent = ofWhole({ ...whole, choices: whole.choices.map((choice) => ({ ...choice, engine: null })) })
  expect(silent.choices[0]).not.toHaveProperty('closedTurn')
  expect(silent.choices[0]?.message).not.toHaveProperty('malformedCalls')
})

describe('many calls of one answer', () => {
  it('are read as far as one large call would be, and kept as text beyond', () => {
    const text = `{"a":[${Array.from({ length: 40_000 }, () => '1').join(',')}]}`
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: text } }
    const said = (index: number) => ({
      index,
      message: { role: 'assistant' as const, tool_calls: [call, call] },
      finish_reason: 'tool_calls',
    })
    const head = { id: 'x', object: 'chat.completion' as const, created: 1, model: 'm' }
    const { choices } = ofWhole({ ...head, choices: [said(0), said(1)] })
    expect(choices.map(({ message }) => message.toolCalls?.length ?? 0)).toEqual([2, 0])
    expect(choices[1]?.message.malformedCalls).toMatchObject([
      { text: `f(${text})`, problem: 'The arguments have too many values.' },
      { text: `f(${text})` },
    ])
  })
})
