import { afterEach, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { callOf, chunksOf, failureOf, textOf } from '../../../test/support/upstream/ask.ts'
import type { ChatCompletion, ChatRequest, ChatUpstream } from '../../core/index.ts'
import { Asking, type TellsTokens } from './asking.ts'
import { openAiUpstream } from './open-ai-upstream.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function start(
  serving: UpstreamOptions,
  tellsTokens: TellsTokens = 'ask',
): Promise<{ server: Upstream; upstream: ChatUpstream }> {
  const server = await startUpstream(serving)
  const upstream = openAiUpstream({ name: 'a', url: server.url, tellsTokens })
  open.push(upstream, server)
  return { server, upstream }
}

/** What each request asked for beside what the client did. */
const asked = ({ requests }: Upstream): string[][] =>
  requests.map(({ body }) =>
    ['return_token_ids', 'logprobs', 'stream_options'].filter((key) => body !== null && key in body),
  )

const all = ['return_token_ids', 'logprobs', 'stream_options']
const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]

async function completionOf(upstream: ChatUpstream, request: Partial<ChatRequest> = {}): Promise<ChatCompletion> {
  const reply = await upstream.chat(callOf(request))
  if (reply.kind !== 'whole') throw new Error('not whole')
  return reply.completion
}

describe('an upstream that tells tokens, as vLLM does', () => {
  it('is asked for them and for their log-probabilities', async () => {
    const { server, upstream } = await start({ tellsTokens: true })
    expect(upstream.tellsTokens).toBe(false)
    const completion = await completionOf(upstream)
    const [choice] = completion.choices
    expect(completion.prompt_token_ids).toHaveLength(6)
    expect(choice?.token_ids).toHaveLength(8)
    expect(choice?.logprobs?.content).toHaveLength(8)
    expect(upstream.tellsTokens).toBe(true)
    expect(server.requests[0]?.body).toMatchObject({ return_token_ids: true, logprobs: true, top_logprobs: 0 })
    expect(server.requests[0]?.body).not.toHaveProperty('stream_options')
  })

  it('in streams too, with the usage: every token is in one chunk, the prompt’s in the first', async () => {
    const { server, upstream } = await start({ tellsTokens: true })
    const { chunks } = await chunksOf(await upstream.chat(callOf({ stream: true })))
    const whole = await completionOf(upstream)
    expect(chunks.flatMap(({ choices }) => choices.flatMap(({ token_ids }) => token_ids ?? []))).toEqual(
      whole.choices[0]?.token_ids,
    )
    expect(chunks.map(({ prompt_token_ids }) => prompt_token_ids ?? null)).toEqual([
      whole.prompt_token_ids,
      ...chunks.slice(1).map(() => null),
    ])
    expect(chunks.at(-1)?.usage).toEqual(whole.usage)
    expect(asked(server)[0]).toEqual(all)
  })

  it('goes on being asked', async () => {
    const { server, upstream } = await start({ tellsTokens: true })
    for (let i = 0; i < 3; i++) await textOf(upstream, callOf({ stream: true }))
    expect(asked(server)).toEqual([all, all, all])
  })

  it('what the client asked for stays as it was asked', async () => {
    const { server, upstream } = await start({ tellsTokens: true })
    const stream_options = { include_usage: false, continuous_usage_stats: true }
    await textOf(upstream, callOf({ stream: true, logprobs: true, top_logprobs: 3, stream_options, temperature: 0.5 }))
    expect(server.requests[0]?.body).toMatchObject({
      logprobs: true,
      top_logprobs: 3,
      stream_options: { include_usage: true, continuous_usage_stats: true },
      temperature: 0.5,
    })
  })
})

describe('an upstream that tells none', () => {
  it('is asked once for each kind of request', async () => {
    const { server, upstream } = await start({ anyModel: true })
    const requests = [{}, { stream: true }, { tools }, { stream: true, tools }, { model: 'other' }]
    for (const request of [...requests, ...requests]) await textOf(upstream, callOf(request))
    const [first, second] = [asked(server).slice(0, 5), asked(server).slice(5)]
    const tokens = ['return_token_ids', 'logprobs']
    expect(first).toEqual([tokens, all, tokens, all, tokens])
    expect(second).toEqual([[], ['stream_options'], [], ['stream_options'], []])
    expect(upstream.tellsTokens).toBe(false)
  })

  it('a stream that fails midway teaches nothing', async () => {
    const { server, upstream } = await start({ tellsTokens: true })
    server.fail('cut', 'error-first')
    await chunksOf(await upstream.chat(callOf({ stream: true })))
    await failureOf(upstream.chat(callOf({ stream: true })))
    expect(await textOf(upstream, callOf({ stream: true }))).not.toBe('')
    expect(asked(server)).toEqual([all, all, all])
  })

  it('"yes" asks always, "no" never; usage is asked for all the same', async () => {
    const { server, upstream } = await start({}, 'yes')
    for (let i = 0; i < 2; i++) await textOf(upstream, callOf({ stream: true }))
    expect(asked(server)).toEqual([all, all])
    expect(upstream.tellsTokens).toBe(true)
    const { server: never, upstream: unasked } = await start({ tellsTokens: true }, 'no')
    await textOf(unasked, callOf())
    await textOf(unasked, callOf({ stream: true }))
    expect(asked(never)).toEqual([[], ['stream_options']])
    expect(unasked.tellsTokens).toBe(false)
  })
})

describe('an upstream that refuses what it does not know', () => {
  it.each([true, 'mistral'] as const)(
    'is asked again without it, in strict mode %s, and that is remembered',
    async (strict) => {
      const { server, upstream } = await start({ strict })
      for (let i = 0; i < 2; i++) expect(await textOf(upstream)).toBe('You said: hello there')
      expect(asked(server)).toEqual([['return_token_ids', 'logprobs'], [], []])
    },
  )

  it('without saying what: at last nothing is asked', async () => {
    const { server, upstream } = await start({ strict: 'vague', usage: 'refused' })
    for (let i = 0; i < 2; i++) expect(await textOf(upstream, callOf({ stream: true }))).toBe('You said: hello there')
    expect(asked(server)).toEqual([all, ['stream_options'], [], []])
  })

  it('because of logprobs (403, as OpenAI’s reasoning models): the tokens are asked for still', async () => {
    const { server, upstream } = await start({ logprobs: 'refused', tellsTokens: true })
    for (let i = 0; i < 2; i++) {
      const completion = await completionOf(upstream)
      expect(completion.choices[0]?.token_ids).toHaveLength(8)
    }
    expect(asked(server)).toEqual([['return_token_ids', 'logprobs'], ['return_token_ids'], ['return_token_ids']])
  })

  it('because of logprobs in streams with tools (llama.cpp): only there', async () => {
    const { server, upstream } = await start({ logprobs: 'not-with-tools', tellsTokens: true })
    for (let i = 0; i < 2; i++) await textOf(upstream, callOf({ stream: true, tools }))
    await textOf(upstream, callOf({ stream: true }))
    const without = ['return_token_ids', 'stream_options']
    expect(asked(server)).toEqual([all, without, without, all])
  })

  it('because of stream_options', async () => {
    const { server, upstream } = await start({ usage: 'refused', tellsTokens: true })
    for (let i = 0; i < 2; i++) expect(await textOf(upstream, callOf({ stream: true }))).toBe('You said: hello there')
    const without = ['return_token_ids', 'logprobs']
    expect(asked(server)).toEqual([all, without, without])
  })

  it('with a 500: without it', async () => {
    const refuse: UpstreamOptions['refuse'] = (body) =>
      'return_token_ids' in body ? { status: 500, body: { error: { message: 'KeyError' } } } : null
    const { server, upstream } = await start({ refuse })
    for (let i = 0; i < 2; i++) expect(await textOf(upstream)).not.toBe('')
    expect(asked(server)).toEqual([['return_token_ids', 'logprobs'], [], []])
  })

  it('as the first event of a stream', async () => {
    const { server, upstream } = await start({ tellsTokens: true })
    const said = { error: { message: 'logprobs are not there', type: 'BadRequestError', code: 400 } }
    server.fail({ kind: 'error-first', body: said })
    expect(await textOf(upstream, callOf({ stream: true }))).toBe('You said: hello there')
    expect(asked(server)).toEqual([all, ['return_token_ids', 'stream_options']])
  })
})

describe('a request that is wrong by itself', () => {
  it('is refused as it is without anything added, and teaches nothing', async () => {
    const { server, upstream } = await start({ tellsTokens: true })
    const refusal = { status: 400, body: { error: { message: 'too long', param: null } } }
    server.set({ refuse: () => refusal })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'refused', ...refusal })
    expect(asked(server).at(-1)).toEqual([])
    server.set({ refuse: () => null })
    expect((await completionOf(upstream)).choices[0]?.token_ids).toHaveLength(8)
  })

  it('and says what is wrong with it is not sent again', async () => {
    const body = { error: { message: 'messages must alternate', param: 'messages' } }
    const { server, upstream } = await start({ refuse: () => ({ status: 400, body }) })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'refused', body })
    expect(server.requests).toHaveLength(1)
  })

  it.each([401, 404, 413, 429, 503])('%i has nothing to do with what was added', async (status) => {
    const { server, upstream } = await start({ refuse: () => ({ status, body: {} }) })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ status })
    expect(server.requests).toHaveLength(1)
  })
})

describe('what other servers say', () => {
  it('SGLang tells the prompt’s tokens with each choice: they are where vLLM has them', async () => {
    const choice = (index: number) => ({
      index,
      message: { role: 'assistant', content: 'hi' },
      finish_reason: 'stop',
      prompt_token_ids: [1, 2],
      token_ids: [3],
    })
    const body = { id: 'x', created: 1, model: 'm', object: 'chat.completion', choices: [choice(0), choice(1)] }
    const { upstream } = await start({ refuse: () => ({ status: 200, body }) })
    const completion = await completionOf(upstream, { n: 2 })
    expect(completion.prompt_token_ids).toEqual([1, 2])
    expect(JSON.stringify(completion.choices)).not.toContain('prompt_token_ids')
    expect(upstream.tellsTokens).toBe(true)
  })
})

describe('what is remembered', () => {
  const request = callOf().request
  const withTokens = (asking: Asking, of = request): boolean => asking.first(of).additions.has('tokens')

  it('is asked anew after an hour; after a 500, which may have been chance, after a minute', () => {
    const time = { at: 1, now: () => time.at }
    for (const [status, ms] of [
      [400, 60 * 60_000],
      [500, 60_000],
    ] as const) {
      const asking = new Asking('ask', time)
      const asked = asking.first(request)
      asking.accepted(request, { request, additions: new Set() }, { asked, status })
      time.at += ms - 1_000
      expect(withTokens(asking)).toBe(false)
      time.at += 2_000
      expect(withTokens(asking)).toBe(true)
    }
  })

  it('has an end, whatever names clients ask for', () => {
    const asking = new Asking('ask')
    const of = (model: number): ChatRequest => ({ ...request, model: `m${model}` })
    for (let model = 0; model < 5_000; model++) asking.answered(of(model), asking.first(of(model)), false)
    expect(withTokens(asking, of(4_999))).toBe(false)
    expect(withTokens(asking, of(0))).toBe(true)
  })
})
