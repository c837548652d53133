import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ask, askingAll, chunksOf, completionOf, gather } from '../../../test/support/chat-answers.ts'
import {
  behaviourLogprobOf,
  logprobOf,
  type Saying,
  type ScriptedServiceOptions,
  scriptedRenderer,
  scriptedService,
} from '../../../test/support/scripted-service.ts'
import type { ChatUpstream } from '../../core/index.ts'
import { chatUpstream, type ChatUpstreamOptions } from './chat-upstream.ts'
import { ChunkWriter } from './chunk-writer.ts'

const open = (say: Saying | string, options: ScriptedServiceOptions = {}) => {
  const service = scriptedService(typeof say === 'string' ? () => [say] : say, options)
  return { service, upstream: chatUpstream({ name: 'embedded', service, clock: { now: () => 1_700_000_000_500 } }) }
}

const tool = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
})
const tools = [tool('search'), tool('open')]
const call = (name: string, values: object) =>
  `<tool_call>\n${JSON.stringify({ name, arguments: values })}\n</tool_call>`
const stream = { stream: true }

describe('a whole answer', () => {
  it('tells the message, the tokens and their log-probabilities', async () => {
    const { upstream, service } = open('hello é')
    const completion = completionOf(await ask(upstream, askingAll))
    const tokens = [...service.tokens('hello é'), 2]
    expect(completion).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/) as string,
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'scripted',
      prompt_token_ids: scriptedRenderer.start([{ role: 'user', content: 'Hi' }], []),
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hello é' },
          finish_reason: 'stop',
          token_ids: tokens,
          engine: { behaviour_logprobs: tokens.map(behaviourLogprobOf), malformed_calls: [], closed_turn: true },
        },
      ],
    })
    expect(completion.choices[0]?.logprobs?.content).toEqual(
      [
        { token: 'hello', bytes: [...Buffer.from('hello')] },
        { token: ' ', bytes: [32] },
        { token: '\ufffd', bytes: [0xc3] },
        { token: '\ufffd', bytes: [0xa9] },
        { token: '<|im_end|>', bytes: [...Buffer.from('<|im_end|>')] },
      ].map((entry, i) => ({ ...entry, logprob: logprobOf(tokens[i]!, i), top_logprobs: [] })),
    )
    const prompt = completion.prompt_token_ids?.length ?? 0
    expect(completion.usage).toEqual({
      prompt_tokens: prompt,
      completion_tokens: 5,
      total_tokens: prompt + 5,
      prompt_tokens_details: { cached_tokens: null },
    })
  })

  it('tells the same unasked: what a client did not ask for is taken out later', async () => {
    const asked = await gather(await ask(open('hello').upstream, askingAll))
    const unasked = await gather(await ask(open('hello').upstream, {}))
    expect(unasked).toEqual(asked)
  })

  it('tells calls beside the text, with ids of their own', async () => {
    const { upstream } = open(`So:\n${call('search', { q: 'é' })}\n${call('open', {})}`)
    const { choices } = completionOf(await ask(upstream, { tools }))
    expect(choices[0]).toMatchObject({
      message: {
        content: 'So:',
        tool_calls: [
          { type: 'function', function: { name: 'search', arguments: '{"q":"é"}' } },
          { type: 'function', function: { name: 'open', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    })
    const ids = choices[0]?.message.tool_calls?.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids ?? []) expect(id).toMatch(/^call_[0-9a-f]{32}$/)
  })

  it('has no content beside calls that stand alone', async () => {
    const { choices } = completionOf(await ask(open(call('open', {})).upstream, { tools }))
    expect(choices[0]?.message.content).toBe(null)
  })

  it('answers as often as it is asked to, each with its own tokens', async () => {
    const { upstream, service } = open(() => ['hello', 'tool', call('open', {})])
    const { choices, usage } = await gather(await ask(upstream, { ...askingAll, n: 3, tools, seed: 5 }))
    expect(choices.map(({ content }) => content)).toEqual(['hello', 'tool', ''])
    expect(choices.map(({ finish }) => finish)).toEqual(['stop', 'stop', 'tool_calls'])
    expect(choices[1]?.tokens).toEqual([...service.tokens('tool'), 2])
    expect(service.requests).toHaveLength(1)
    expect(service.requests[0]).toMatchObject({ samples: 3, params: { seed: 5 } })
    expect(usage).toMatchObject({ completion_tokens: choices.flatMap(({ tokens }) => tokens).length })
  })
})

describe('a streamed answer', () => {
  it('begins with the role, tells text with its tokens as they come, then why it ended, then the usage', async () => {
    const { upstream } = open('hello!')
    const chunks = await chunksOf(await ask(upstream, { ...askingAll, ...stream }))
    expect(new Set(chunks.map(({ id, created, model }) => `${id} ${created} ${model}`)).size).toBe(1)
    expect(
      chunks.map(({ choices }) =>
        choices.map(({ delta, finish_reason, token_ids }) => [delta, finish_reason, token_ids]),
      ),
    ).toEqual([
      [[{ role: 'assistant', content: '' }, null, undefined]],
      [[{ content: 'hello' }, null, [expect.any(Number)]]],
      [[{ content: '!' }, null, [expect.any(Number)]]],
      [[{}, 'stop', [2]]],
      [],
    ])
    expect(chunks.map((chunk) => chunk.prompt_token_ids !== undefined)).toEqual([true, false, false, false, false])
    expect(chunks[3]?.choices[0]?.engine).toMatchObject({ closed_turn: true, malformed_calls: [] })
    expect(chunks[4]?.usage).toMatchObject({ completion_tokens: 3 })
  })

  it('sends no chunk for tokens whose text is not certain, and tells them with the text', async () => {
    const { upstream, service } = open('h😀')
    const chunks = await chunksOf(await ask(upstream, stream))
    const choices = chunks.flatMap(({ choices }) => choices)
    expect(choices.map(({ delta }) => delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'h' },
      { content: '😀' },
      {},
    ])
    expect(choices.flatMap(({ token_ids }) => token_ids ?? [])).toEqual([...service.tokens('h😀'), 2])
    expect(choices.map(({ token_ids }) => token_ids?.length)).toEqual([undefined, 1, service.tokens('😀').length, 1])
  })

  it('sends a chunk while the model still speaks', async () => {
    let go: () => void = () => {}
    let paces = 0
    const pace = () => (++paces === 3 ? new Promise<void>((resolve) => (go = resolve)) : Promise.resolve())
    const reply = await ask(open('abc', { pace }).upstream, stream)
    if (reply.kind !== 'stream') throw new Error('no stream')
    const chunks = reply.chunks[Symbol.asyncIterator]()
    const texts: unknown[] = []
    for (let i = 0; i < 3; i++) texts.push((await chunks.next()).value?.choices[0]?.delta.content)
    expect(texts).toEqual(['', 'a', 'b'])
    go()
    expect((await chunks.next()).value?.choices[0]?.delta.content).toBe('c')
  })

  it('never shows what becomes a call, nor a part of it', async () => {
    const { upstream } = open(`hello <tool_${call('search', { q: '</tool_call>' })}`)
    const chunks = await chunksOf(await ask(upstream, { ...stream, tools }))
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('hello <tool_')
    expect(deltas.flatMap(({ tool_calls }) => tool_calls ?? [])).toEqual([
      {
        index: 0,
        id: expect.stringMatching(/^call_/) as string,
        type: 'function',
        function: { name: 'search', arguments: '{"q":"</tool_call>"}' },
      },
    ])
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('tool_calls')
  })
})

describe('the end of an answer', () => {
  it.each([{ stream: false }, stream])('comes before a stop string, whose tokens are told: %o', async (how) => {
    const { upstream, service } = open('one END two')
    const { choices } = await gather(await ask(upstream, { ...askingAll, ...how, stop: ['END', 'never'] }))
    expect(choices).toMatchObject([{ content: 'one ', finish: 'stop', closedTurn: false }])
    expect(choices[0]?.tokens).toEqual(service.tokens('one END'))
  })

  it('is said to be its length where its budget cut it', async () => {
    const { upstream } = open('hello hello')
    for (const bound of [{ max_tokens: 2 }, { max_completion_tokens: 2, max_tokens: 9 }]) {
      const { choices } = await gather(await ask(upstream, { ...askingAll, ...bound }))
      expect(choices).toMatchObject([{ content: 'hello ', finish: 'length', closedTurn: false }])
      expect(choices[0]?.tokens).toHaveLength(2)
    }
  })

  it('is a budget of its own where the client names none, and never more than the context leaves', async () => {
    const { upstream, service } = open('a')
    const { promptTokens } = await gather(await ask(upstream, askingAll))
    await ask(upstream, { max_tokens: 1_000_000 })
    const small = open('a', { contextLength: 100 })
    await ask(small.upstream, {})
    const budgets = [...service.requests, ...small.service.requests].map(({ params }) => params.maxTokens)
    const prompt = promptTokens?.length ?? 0
    expect(budgets).toEqual([2_048, 4_096 - prompt, 100 - prompt])
  })

  it.each([{ stream: false }, stream])('comes with the first call where one is all that is wanted: %o', async (how) => {
    const said = `a${call('open', {})}${call('search', {})}`
    const { upstream, service } = open(said, { pieces: [50] })
    const { choices, usage } = await gather(
      await ask(upstream, { ...askingAll, ...how, tools, parallel_tool_calls: false }),
    )
    const kept = service.tokens(`a${call('open', {})}`)
    expect(choices).toMatchObject([
      { content: 'a', toolCalls: [{ name: 'open', arguments: '{}' }], finish: 'tool_calls', closedTurn: false },
    ])
    expect(choices[0]?.tokens).toEqual(kept)
    expect(choices[0]?.logprobs).toHaveLength(kept.length)
    expect(usage).toMatchObject({ completion_tokens: kept.length })
  })

  it('frees the engine after the first call', async () => {
    const { upstream, service } = open(`${call('open', {})}${'hello '.repeat(500)}`)
    await ask(upstream, { tools, parallel_tool_calls: false })
    expect(service.requests[0]?.signal?.aborted).toBe(true)
  })
})

describe('a call that nobody can read', () => {
  const broken = '<tool_call>\n{"name": "search", "arguments": {"q": \n</tool_call>'

  it.each([{ stream: false }, stream])('is text, and is told as what it is: %o', async (how) => {
    const { upstream } = open(`So:\n${call('open', {})}\n${broken}`)
    const { choices } = await gather(await ask(upstream, { ...askingAll, ...how, tools }))
    expect(choices).toMatchObject([
      {
        content: `So:\n${broken}`,
        toolCalls: [{ name: 'open' }],
        malformedCalls: [{ text: broken, problem: 'The tool call is not JSON.' }],
      },
    ])
  })

  it('is one of a tool that there is not, and any where none may be called', async () => {
    const { upstream } = open(call('find', {}))
    for (const request of [{ tools }, { tools, tool_choice: 'none' }, {}]) {
      const { choices } = await gather(await ask(upstream, { ...askingAll, ...request }))
      expect(choices).toMatchObject([{ content: call('find', {}), toolCalls: [], finish: 'stop' }])
      expect(choices[0]?.malformedCalls).toHaveLength(1)
    }
  })
})

it('says the same as a stream and as a whole, whatever the model says and however its tokens come', async () => {
  const tags = ['<tool_call>', '</tool_call>', '<tool_', '<|im_end|>', '{"name": "open", "arguments": {']
  const calls = [call('search', { q: 'é</tool_call>' }), call('open', {}), call('find', {})]
  const parts = fc.constantFrom('a', 'hello', ' ', '\n', 'é', '😀', '\ufffd', 'END', 'EN', ...tags, ...calls)
  const text = fc.array(fc.oneof(parts, fc.string({ unit: 'grapheme', maxLength: 4 }))).map((all) => all.join(''))
  const request = fc.record({
    stop: fc.subarray(['END', 'é', 'ND h', '</tool_call>']),
    max_tokens: fc.integer({ min: 1, max: 300 }),
    tools: fc.constantFrom(tools, undefined),
    parallel_tool_calls: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 2 }),
      request,
      fc.constantFrom(null, [1], [1, 3, 2], [7], [1_000]),
      fc.boolean(),
      async (said, body, pieces, closes) => {
        const { upstream, service } = open(() => said, { pieces, closes })
        const everything = { ...askingAll, ...body, n: said.length }
        const whole = await gather(await ask(upstream, everything))
        const reply = await ask(upstream, { ...everything, ...stream })
        const chunks = await chunksOf(reply)
        const streamed = await gather({ ...reply, kind: 'stream', chunks: from(chunks) } as typeof reply)
        expect(streamed).toEqual(whole)
        for (const [i, { tokens, logprobs, behaviourLogprobs, content }] of whole.choices.entries()) {
          const all = [...service.tokens(said[i]!), 2]
          expect(tokens).toEqual(all.slice(0, tokens.length))
          expect(logprobs).toEqual(tokens.map(logprobOf))
          expect(behaviourLogprobs).toEqual(tokens.map(behaviourLogprobOf))
          expect(content).not.toMatch(/\p{Cs}/u)
        }
        for (const { choices } of chunks) {
          for (const { delta, token_ids } of choices) {
            expect(delta.content ?? '').not.toMatch(/\p{Cs}/u)
            // Text never comes without the tokens that it is told with being told, too.
            if (delta.content) expect(token_ids).toBeDefined()
          }
        }
      },
    ),
  )
})

async function* from<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items
}

describe('the weights that answer', () => {
  const base = { kind: 'weights', base: '/models/scripted', baseHash: 'hash-of-scripted', adapter: null } as const
  const over = (adapter: string) => ({ ...base, adapter: adapter.repeat(64) })
  const serving = (options: Partial<ChatUpstreamOptions> = {}) => {
    const service = scriptedService(() => ['hello'])
    const loads: string[] = []
    const adapterBytes = (hash: string) => {
      loads.push(hash.slice(0, 1))
      if (hash.startsWith('e')) return Promise.reject(new Error('there is no such blob'))
      return Promise.resolve(new Uint8Array(Number.parseInt(hash.slice(0, 1), 16)))
    }
    const upstream = chatUpstream({ name: 'embedded', service, adapterBytes, ...options })
    return { service, upstream, loads }
  }

  it('leave less room where an adapter takes positions of the context', async () => {
    const service = scriptedService(() => ['a'.repeat(500)], { contextLength: 100 })
    const positions = 40
    const prompted = { ...service, loadAdapter: async () => ({ kind: 'adapter', id: '1', positions }) as const }
    const upstream = chatUpstream({ name: 'embedded', service: prompted, adapterBytes: async () => new Uint8Array() })
    const prompt = completionOf(await ask(upstream, {}, { weights: over('a') })).prompt_token_ids?.length ?? 0
    expect(service.requests[0]?.params.maxTokens).toBe(100 - positions - prompt)
    const long = { messages: [{ role: 'user' as const, content: 'a '.repeat(15) }] }
    await expect(ask(upstream, long, { weights: over('a') })).rejects.toThrow(/maximum context length is 60 tokens/)
    await ask(upstream, long, { weights: base })
  })

  it('are the base, or the adapter that a request names, loaded once', async () => {
    const { service, upstream, loads } = serving()
    expect(upstream.servesAdapters).toBe(true)
    expect(upstream.weights('scripted')).toEqual(base)
    const before = completionOf(await ask(upstream, {}, { weights: base }))
    await upstream.prepare('scripted', over('a'))
    const after = completionOf(await ask(upstream, {}, { weights: over('a') }))
    await ask(upstream, {})
    expect(service.requests.map(({ adapter }) => adapter?.id ?? null)).toEqual([null, '10', null])
    expect(loads).toEqual(['a'])
    expect(upstream.weights('scripted')).toEqual(base)
    expect(before.model).toBe(after.model)
    expect(before['system_fingerprint']).not.toBe(after['system_fingerprint'])
  })

  it('stay those that a request began with, to its last token (invariant 11)', async () => {
    let go: () => void = () => {}
    const paused = new Promise<void>((resolve) => {
      go = resolve
    })
    let asked = 0
    const pace = () => (asked++ === 3 ? paused : Promise.resolve())
    const unloaded: string[] = []
    const scripted = scriptedService(() => ['hello there'], { pace })
    const sampler = { ...scripted.sampler, unload: ({ id }: { id: string }) => Promise.resolve(void unloaded.push(id)) }
    const service = { ...scripted, sampler }
    const { upstream } = serving({ service, mostAdapters: 1 })
    const slow = await ask(upstream, { stream: true }, { weights: over('a') })
    await ask(upstream, {}, { weights: over('b') })
    await ask(upstream, {}, { weights: over('c') })
    expect(unloaded).toEqual(['11', '12'])
    go()
    expect((await gather(slow)).choices[0]?.content).toBe('hello there')
    await ask(upstream, {}, { weights: over('c') })
    expect(unloaded).toEqual(['11', '12', '10'])
  })

  it('are given back by a request that fails, is refused or is left', async () => {
    const { upstream, service } = serving({ mostAdapters: 1 })
    const unload = vi.spyOn(service.sampler, 'unload')
    const gone = AbortSignal.abort()
    await expect(ask(upstream, {}, { weights: over('a'), signal: gone })).rejects.toMatchObject({ kind: 'cancelled' })
    const forced = { tool_choice: 'required' }
    await expect(ask(upstream, forced, { weights: over('a') })).rejects.toMatchObject({ kind: 'refused' })
    const left = await ask(upstream, { stream: true }, { weights: over('a') })
    if (left.kind === 'stream') for await (const _ of left.chunks) break
    await ask(upstream, {}, { weights: over('b') })
    await vi.waitFor(() => expect(unload).toHaveBeenCalledWith({ kind: 'adapter', id: '10' }))
  })

  it('are refused where they are none of this model, or cannot be had', async () => {
    const { upstream } = serving()
    const unserved = { code: 'model/adapter-not-served' }
    const other = { ...over('a'), baseHash: 'another' }
    await expect(upstream.prepare('scripted', other)).rejects.toMatchObject({ ...unserved, kind: 'refused' })
    await expect(upstream.prepare('gpt', over('a'))).rejects.toMatchObject({ status: 404 })
    await expect(upstream.prepare('scripted', over('e'))).rejects.toMatchObject({ ...unserved, kind: 'broken' })
    await expect(ask(upstream, {}, { weights: over('e') })).rejects.toMatchObject(unserved)
    const bare = chatUpstream({ name: 'bare', service: scriptedService(() => ['hello']) })
    expect(bare.servesAdapters).toBe(false)
    await bare.prepare('scripted', base)
    await expect(bare.prepare('scripted', over('a'))).rejects.toMatchObject({ ...unserved, kind: 'refused' })
    await expect(ask(bare, {}, { weights: over('a') })).rejects.toMatchObject(unserved)
  })

  it('go by the name of the model and by its reference', async () => {
    const { upstream } = open('hello')
    const call = { authorization: null, signal: new AbortController().signal }
    expect(await upstream.models(call)).toEqual([{ id: 'scripted', ownedBy: 'ratchet', created: 1_700_000_000 }])
    for (const model of ['scripted', '/models/scripted']) await ask(upstream, { model })
    await expect(ask(upstream, { model: 'gpt-4o' })).rejects.toMatchObject({
      kind: 'refused',
      status: 404,
      body: { error: { code: 'model_not_found', message: expect.stringContaining('`scripted`') as string } },
    })
  })
})

describe('what cannot be done is refused', () => {
  const image = {
    role: 'user',
    content: [
      { type: 'text', text: 'a' },
      { type: 'image_url', image_url: { url: 'x' } },
    ],
  }
  it.each<[object, string, string | null]>([
    [{ response_format: { type: 'json_object' } }, 'unsupported_response_format', 'response_format'],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, 'unsupported_response_format', 'response_format'],
    [{ tools, tool_choice: 'required' }, 'unsupported_tool_choice', 'tool_choice'],
    [
      { tools, tool_choice: { type: 'function', function: { name: 'open' } } },
      'unsupported_tool_choice',
      'tool_choice',
    ],
    [{ logprobs: true, top_logprobs: 1 }, 'unsupported_parameter', 'top_logprobs'],
    [{ frequency_penalty: 0.5 }, 'unsupported_parameter', 'frequency_penalty'],
    [{ logit_bias: { 5: 10 } }, 'unsupported_parameter', 'logit_bias'],
    [{ messages: [{ role: 'user', content: 'a' }, image] }, 'unsupported_content', 'messages[1].content[1].type'],
    [{ messages: [{ role: 'user', content: 'a '.repeat(3_000) }] }, 'context_length_exceeded', 'messages'],
    [{ messages: [{ role: 'user', content: 'a'.repeat(10_000_000) }] }, 'context_length_exceeded', 'messages'],
    [
      { messages: Array.from({ length: 4_000 }, () => ({ role: 'user', content: '' })) },
      'context_length_exceeded',
      'messages',
    ],
  ])('%.100j', async (request, code, param) => {
    const { upstream, service } = open('hello')
    for (const how of [{}, stream]) {
      await expect(ask(upstream, { ...request, ...how })).rejects.toMatchObject({
        kind: 'refused',
        upstream: 'embedded',
        status: 400,
        body: { error: { type: 'invalid_request_error', code, param } },
      })
    }
    expect(service.requests).toHaveLength(0)
  })

  it.each<[object, string]>([
    [{ temperature: 0.7 }, 'temperature'],
    [{ top_p: 0.9 }, 'top_p'],
    [{ top_k: 5 }, 'top_k'],
  ])('%j, of a sampler that draws at the temperatures 0 and 1 alone', async (request, param) => {
    const { upstream, service } = open('hello', { temperatures: false })
    await ask(upstream, { temperature: 0, top_p: 1, top_k: -1 })
    await expect(ask(upstream, request)).rejects.toMatchObject({
      kind: 'refused',
      status: 400,
      body: { error: { code: 'unsupported_value', param } },
    })
    expect(service.requests).toHaveLength(1)
  })

  it('except where it changes nothing', async () => {
    const harmless = {
      response_format: { type: 'text' },
      tool_choice: 'auto',
      frequency_penalty: 0,
      logit_bias: {},
      top_logprobs: 0,
      stop: ['', '\ud83d'],
      user: 'someone',
    }
    const { upstream, service } = open('hello')
    expect(await gather(await ask(upstream, harmless))).toMatchObject({ choices: [{ content: 'hello' }] })
    expect(service.requests[0]?.params.stop).toEqual([])
  })

  it('names the context length as OpenAI does', async () => {
    const { upstream } = open('hello', { contextLength: 64 })
    await expect(ask(upstream, { messages: [{ role: 'user', content: 'a '.repeat(99) }] })).rejects.toThrow(
      /maximum context length is 64 tokens\. However, your messages resulted in \d+ tokens/,
    )
  })

  it('embeddings, too', async () => {
    const signal = new AbortController().signal
    await expect(open('').upstream.embeddings({ body: {}, authorization: null, signal })).rejects.toMatchObject({
      kind: 'refused',
      status: 404,
    })
  })
})

describe('how tokens are drawn', () => {
  it('is as OpenAI has it by default, and as the client says', async () => {
    const { upstream, service } = open('hello')
    await ask(upstream, {})
    await ask(upstream, { temperature: 0, top_p: 1, top_k: -1 })
    await ask(upstream, { temperature: 0.5, top_p: 0.9, top_k: 5, seed: -3, stop: 'x' })
    const [first, second, third] = service.requests.map(({ params: { maxTokens, stopTokens, ...rest } }) => {
      expect({ maxTokens, stopTokens }).toEqual({ maxTokens: 2_048, stopTokens: [2] })
      return rest
    })
    expect(first).toEqual({ temperature: 1, stop: [] })
    expect(second).toEqual({ temperature: 0, stop: [] })
    expect(third).toEqual({ temperature: 0.5, topP: 0.9, topK: 5, seed: -3, stop: ['x'] })
  })
})

describe('an answer that is given up', () => {
  const events = () => new Promise<void>((resolve) => setTimeout(resolve, 0))

  it.each([{ stream: false }, stream])('frees the engine when its client is gone: %o', async (how) => {
    const { upstream, service } = open('hello '.repeat(400), { pace: events })
    const gone = new AbortController()
    const outcome = ask(upstream, how, { signal: gone.signal }).then(gather)
    await events()
    gone.abort()
    await expect(outcome).rejects.toMatchObject({ kind: 'cancelled', code: 'model/upstream-cancelled' })
    expect(service.requests[0]?.signal?.aborted).toBe(true)
    await expect(ask(upstream, how, { signal: gone.signal })).rejects.toMatchObject({ kind: 'cancelled' })
    expect(service.requests).toHaveLength(1)
  })

  it('frees the engine when its reader leaves, and keeps what was told', async () => {
    const { upstream, service } = open('hello '.repeat(400), { pace: events })
    const reply = await ask(upstream, { ...askingAll, ...stream })
    if (reply.kind !== 'stream') throw new Error('no stream')
    let tokens = 0
    for await (const { choices } of reply.chunks) {
      tokens += choices[0]?.token_ids?.length ?? 0
      if (tokens > 2) break
    }
    expect(service.requests[0]?.signal?.aborted).toBe(true)
    const rest = reply.chunks[Symbol.asyncIterator]()
    expect((await rest.next()).done).toBe(true)
  })

  it('frees the engine when its reader leaves before it read anything', async () => {
    const { upstream, service } = open('hello '.repeat(400), { pace: events })
    const reply = await ask(upstream, stream)
    if (reply.kind !== 'stream') throw new Error('no stream')
    await reply.chunks[Symbol.asyncIterator]().return?.()
    expect(service.requests[0]?.signal?.aborted).toBe(true)
  })

  it('listens no more to a client whose answer is complete', async () => {
    const gone = new AbortController()
    const { upstream, service } = open('hello')
    await ask(upstream, {}, { signal: gone.signal })
    gone.abort()
    expect(service.requests[0]?.signal?.aborted).toBe(false)
  })

  it('is cancelled when the upstream closes, which closes a service that it owns', async () => {
    for (const ownsService of [true, false]) {
      const service = scriptedService(() => ['hello '.repeat(400)], { pace: events })
      const upstream = chatUpstream({ name: 'embedded', service, ownsService })
      const outcome = expect(ask(upstream, {})).rejects.toMatchObject({ kind: 'cancelled' })
      await events()
      await upstream.close()
      await outcome
      expect(service.closed).toBe(ownsService)
      await expect(ask(upstream, {})).rejects.toMatchObject({ kind: 'unreachable', code: 'model/upstream-closed' })
    }
  })
})

describe('a model that fails', () => {
  const failing = (after: number): ChatUpstream => {
    const service = scriptedService(() => ['hello hello hello'], {
      pace: () => (after-- > 0 ? Promise.resolve() : Promise.reject(new Error('out of memory'))),
    })
    return chatUpstream({ name: 'embedded', service })
  }
  const failure = { kind: 'broken', upstream: 'embedded', message: expect.stringContaining('out of memory') as string }

  it('fails the request before its first token, and in a whole answer', async () => {
    await expect(ask(failing(0), stream)).rejects.toMatchObject(failure)
    await expect(ask(failing(2), {})).rejects.toMatchObject(failure)
  })

  it('fails a stream whose end cannot be told, after what it said', async () => {
    const closing = vi.spyOn(ChunkWriter.prototype, 'closing').mockImplementation(() => {
      throw new RangeError('no end')
    })
    const reply = await ask(open('hello').upstream, stream)
    await expect(chunksOf(reply)).rejects.toMatchObject({ code: 'model/upstream-failed' })
    closing.mockRestore()
  })

  it('fails a stream after what it said', async () => {
    const reply = await ask(failing(2), stream)
    if (reply.kind !== 'stream') throw new Error('no stream')
    let text = ''
    const reading = (async () => {
      for await (const { choices } of reply.chunks) text += choices[0]?.delta.content ?? ''
    })()
    await expect(reading).rejects.toMatchObject(failure)
    expect(text).toBe('hello ')
  })
})
