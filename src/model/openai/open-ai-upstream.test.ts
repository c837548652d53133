import { afterEach, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { callOf, chunksOf, failureOf, textOf, until } from '../../../test/support/upstream/ask.ts'
import { cert, key } from '../../../test/support/upstream/certificate.mjs'
import { ChatChunk, ChatCompletion, contentHash } from '../../core/index.ts'
import { openAiUpstream, type OpenAiUpstreamOptions } from './open-ai-upstream.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function start(
  serving: UpstreamOptions = {},
  options: Partial<OpenAiUpstreamOptions> = {},
): Promise<{ server: Upstream; upstream: ReturnType<typeof openAiUpstream> }> {
  const server = await startUpstream(serving)
  const upstream = openAiUpstream({ name: 'scripted-server', url: server.url, tellsTokens: 'no', ...options })
  open.push(upstream, server)
  return { server, upstream }
}

const tool = (name: string) => ({ type: 'function' as const, function: { name, parameters: { type: 'object' } } })

describe('a whole answer', () => {
  it('is what the upstream said, and says who answered', async () => {
    const { upstream } = await start()
    const reply = await upstream.chat(callOf())
    expect(reply).toMatchObject({
      kind: 'whole',
      upstream: 'scripted-server',
      completion: {
        object: 'chat.completion',
        model: 'scripted',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'You said: hello there' }, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 6, completion_tokens: 8 },
      },
    })
  })

  it('keeps what the schema does not name', async () => {
    const { upstream } = await start({ servedModel: 'scripted-2026' })
    const reply = await upstream.chat(callOf())
    expect(reply.kind === 'whole' && reply.completion.choices[0]).toHaveProperty('logprobs', null)
    expect(reply).toHaveProperty('completion.model', 'scripted-2026')
  })

  it('has tool calls, several at once, and several choices', async () => {
    const { upstream } = await start()
    const messages = [{ role: 'user' as const, content: '!look {"at":"a"}\n!look {"at":"b"}' }]
    const reply = await upstream.chat(callOf({ messages, tools: [tool('look')], n: 2 }))
    const choices = reply.kind === 'whole' ? reply.completion.choices : []
    expect(choices.map(({ index, finish_reason }) => [index, finish_reason])).toEqual([
      [0, 'tool_calls'],
      [1, 'tool_calls'],
    ])
    expect(choices[1]?.message.tool_calls?.map((call) => call.function.arguments)).toEqual(['{"at":"a"}', '{"at":"b"}'])
  })

  it('of more bytes than one packet arrives whole, whatever it is written in', async () => {
    const said = 'žluťoučký 👩🏽‍🚀 '.repeat(20_000)
    const { upstream } = await start({ say: () => said })
    expect(await textOf(upstream)).toBe(said)
  })
})

describe('a stream', () => {
  it('says the same as the whole answer, in chunks', async () => {
    const { upstream } = await start()
    const { chunks, failure } = await chunksOf(await upstream.chat(callOf({ stream: true })))
    expect(failure).toBeNull()
    expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe('You said: hello there')
    expect(chunks.filter(({ choices: [choice] }) => choice?.finish_reason)).toHaveLength(1)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 8 } })
    for (const chunk of chunks) expect(ChatChunk.parse(chunk)).toEqual(chunk)
  })

  it('arrives as it is sent: the first chunk long before the last', async () => {
    const { server, upstream } = await start({ chunkDelayMs: 20, say: () => 'a b c d e f g h' })
    const reply = await upstream.chat(callOf({ stream: true }))
    const before: number[] = []
    if (reply.kind === 'stream') for await (const _ of reply.chunks) before.push(server.answered)
    expect(before.length).toBeGreaterThan(10)
    expect(before.slice(0, 5)).toEqual([0, 0, 0, 0, 0])
  })

  it('has the tool calls of several choices, mixed', async () => {
    const { upstream } = await start()
    const messages = [{ role: 'user' as const, content: '!look {"at": "a"}\n!look {"at": "b"}' }]
    const reply = await upstream.chat(callOf({ stream: true, messages, tools: [tool('look')], n: 2 }))
    const { chunks } = await chunksOf(reply)
    const texts = new Map<string, string>()
    for (const { index, delta } of chunks.flatMap(({ choices }) => choices)) {
      for (const call of delta.tool_calls ?? []) {
        const id = `${index}.${call.index}`
        texts.set(id, (texts.get(id) ?? '') + (call.function?.arguments ?? ''))
      }
    }
    expect([...texts]).toEqual([
      ['0.0', '{"at": "a"}'],
      ['1.0', '{"at": "a"}'],
      ['0.1', '{"at": "b"}'],
      ['1.1', '{"at": "b"}'],
    ])
  })

  it('holds a fast upstream back while nobody reads, and loses nothing', async () => {
    const said = `${'x'.repeat(50_000)} `.repeat(400)
    const { server, upstream } = await start({ say: () => said, record: false })
    const reply = await upstream.chat(callOf({ stream: true }))
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(server.answered).toBe(0)
    const { chunks, failure } = await chunksOf(reply)
    expect(failure).toBeNull()
    expect(chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe(said)
  })

  it('a reader slower than the idle time-out is no idle upstream', async () => {
    const said = `${'x'.repeat(50_000)} `.repeat(400)
    const { upstream } = await start({ say: () => said, record: false }, { idleTimeoutMs: 700 })
    const reply = await upstream.chat(callOf({ stream: true }))
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect((await chunksOf(reply)).failure).toBeNull()
  })

  it('leaves its connection to the next request', async () => {
    const { server, upstream } = await start()
    for (let i = 0; i < 20; i++) expect(await textOf(upstream, callOf({ stream: i % 2 === 0 }))).not.toBe('')
    expect(server.connections).toBeLessThan(4)
  })
})

describe('whoever is gone', () => {
  it.each(['hang', 'hang-midway'] as const)('by signal, while the upstream is in "%s"', async (fault) => {
    for (const stream of [true, false]) {
      const { server, upstream } = await start()
      server.fail(fault)
      const controller = new AbortController()
      const reply = upstream
        .chat(callOf({ stream }, { signal: controller.signal }))
        .then(async (said) => (await chunksOf(said)).failure)
        .catch((error: unknown) => error)
      await until(() => server.requests.length === 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(server.abandoned).toBe(0)
      controller.abort()
      expect(await reply).toMatchObject({ kind: 'cancelled', code: 'model/upstream-cancelled', status: null })
      await until(() => server.abandoned === 1)
    }
  })

  it('by leaving the stream early', async () => {
    const { server, upstream } = await start({ chunkDelayMs: 5, say: () => 'word '.repeat(500) })
    const reply = await upstream.chat(callOf({ stream: true }))
    let read = 0
    if (reply.kind === 'stream') for await (const _ of reply.chunks) if (++read === 3) break
    await until(() => server.abandoned === 1)
    expect(server.answered).toBe(0)
  })

  it('before the request: nothing is sent', async () => {
    const { server, upstream } = await start()
    const call = callOf({}, { signal: AbortSignal.abort() })
    expect(await failureOf(upstream.chat(call))).toMatchObject({ kind: 'cancelled' })
    expect(server.connections).toBe(0)
  })

  it('because Ratchet stops: every request ends at once', async () => {
    const { server, upstream } = await start()
    const half = await upstream.chat(callOf({ model: 'fault:hang-midway', stream: true }))
    const none = failureOf(upstream.chat(callOf({ model: 'fault:hang' })))
    await until(() => server.requests.length === 2)
    const rest = chunksOf(half)
    await upstream.close()
    expect(await none).toMatchObject({ kind: 'cancelled' })
    expect(await rest).toMatchObject({ failure: { kind: 'cancelled' } })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'cancelled' })
  })
})

describe('authorization', () => {
  it('is the upstream’s own key, whatever the client sends', async () => {
    const { server, upstream } = await start({ apiKey: 'sk-own-key-1' }, { key: ' sk-own-key-1\n' })
    await upstream.chat(callOf({}, { authorization: 'Bearer sk-client' }))
    await upstream.models({ authorization: 'Bearer sk-client', signal: new AbortController().signal })
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-own-key-1',
      'Bearer sk-own-key-1',
    ])
  })

  it('is the client’s where the upstream has none, and absent where neither has', async () => {
    const { server, upstream } = await start()
    await upstream.chat(callOf({}, { authorization: 'Bearer sk-client' }))
    await upstream.chat(callOf())
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-client', undefined])
  })

  it('never shows in a failure, even where the upstream repeats it', async () => {
    const secret = 'sk-"very\\secret/1234'
    const body = { error: { message: `Incorrect API key provided: ${secret}. Really ${secret}!`, keys: [secret] } }
    const { upstream } = await start({ refuse: () => ({ status: 401, body }) })
    const call = callOf({}, { authorization: `Bearer ${secret}` })
    const failure = (await failureOf(upstream.chat(call))) as Error & { body: unknown; hint: string }
    expect(failure.message).toBe(
      'The upstream scripted-server answered 401: Incorrect API key provided: ***. Really ***!',
    )
    expect(JSON.stringify([failure, failure.message, failure.stack, failure.hint])).not.toContain('secret')
    expect(failure.body).toEqual({ error: { message: 'Incorrect API key provided: ***. Really ***!', keys: ['***'] } })
  })

  it('a client’s 401 is passed on; a 401 for our own key is no fault of the client', async () => {
    const { upstream } = await start({ apiKey: 'right-key' })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'refused', status: 401 })
    const { upstream: ours } = await start({ apiKey: 'right-key' }, { key: 'wrong-key' })
    expect(await failureOf(ours.chat(callOf()))).toMatchObject({
      kind: 'broken',
      status: 401,
      code: 'model/upstream-own-key',
    })
  })

  it.each(['', '  ', 'two words', 'line\nbreak', 'ключ'])('refuses the key %j without showing it', (wrong) => {
    const make = () => openAiUpstream({ name: 'x', url: 'http://127.0.0.1/v1', key: wrong })
    expect(make).toThrow(expect.objectContaining({ code: 'input/upstream-key' }))
    if (wrong.trim() !== '') expect(make).not.toThrow(wrong)
  })
})

describe('the base URL', () => {
  it.each(['', '/', '//'])('may end in %j', async (end) => {
    const server = await startUpstream()
    const upstream = openAiUpstream({ name: 'x', url: `${server.url}${end}` })
    open.push(upstream, server)
    await upstream.chat(callOf())
    expect(server.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
  })

  it('may be https', async () => {
    const { server, upstream } = await start({ tls: { cert, key } }, { ca: cert })
    expect(server.url).toMatch(/^https:/)
    expect(await textOf(upstream)).toBe('You said: hello there')
    expect(await textOf(upstream, callOf({ stream: true }))).toBe('You said: hello there')
  })

  it('of https with a certificate that nobody vouches for is unreachable', async () => {
    const { upstream } = await start({ tls: { cert, key } })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('DEPTH_ZERO_SELF_SIGNED_CERT'),
    })
  })

  it.each(['', 'no url', 'ftp://host/v1', 'https://user:pass@host/v1', 'https://user@host/v1'])('is not %j', (url) => {
    const make = () => openAiUpstream({ name: 'x', url })
    expect(make).toThrow(expect.objectContaining({ code: 'input/upstream-url' }))
    expect(make).not.toThrow('pass@')
  })
})

describe('models, embeddings and weights', () => {
  it('lists what the upstream serves', async () => {
    const { upstream } = await start({ models: ['a', 'b'] })
    expect(await upstream.models(callOf())).toEqual([
      { id: 'a', ownedBy: 'scripted', created: 1_700_000_000 },
      { id: 'b', ownedBy: 'scripted', created: 1_700_000_000 },
    ])
  })

  it('knows no list of more models than anybody serves', async () => {
    const { upstream } = await start({ models: Array.from({ length: 10_001 }, (_, i) => `m${i}`) })
    expect(await failureOf(upstream.models(callOf()))).toMatchObject({ code: 'model/upstream-malformed' })
  })

  it('takes room for a large answer, and gives up one for which there is none', async () => {
    const { upstream } = await start()
    const taken: number[] = []
    const room = { take: (bytes: number) => void taken.push(bytes) }
    const said = (length: number) => callOf({ messages: [{ role: 'user', content: 'x'.repeat(length) }] })
    await upstream.chat({ ...said(1_000), room })
    expect(taken).toEqual([])
    await upstream.chat({ ...said(500_000), room })
    const held = taken.reduce((sum, bytes) => sum + bytes, 0)
    expect(held).toBeGreaterThan(400_000)
    expect(held).toBeLessThan(600_000)
    const full = new Error('full')
    const none = {
      take: () => {
        throw full
      },
    }
    await expect(upstream.chat({ ...said(500_000), room: none })).rejects.toBe(full)
  })

  it('passes embeddings through', async () => {
    const { server, upstream } = await start()
    const body = { model: 'scripted', input: ['one', 'two'], dimensions: 3 }
    const answer = await upstream.embeddings({ ...callOf(), body })
    expect(server.requests[0]).toMatchObject({ path: '/v1/embeddings', body })
    expect(answer).toMatchObject({ object: 'list', data: [{ index: 0, embedding: [0.03, 0.5, -0.25] }, { index: 1 }] })
  })

  it('names what decides by upstream and model', async () => {
    const { upstream } = await start()
    expect(upstream.weights('scripted')).toEqual({
      kind: 'weights',
      base: 'scripted-server/scripted',
      baseHash: contentHash('scripted-server/scripted'),
      adapter: null,
    })
    expect(upstream.weights('other').baseHash).not.toBe(upstream.weights('scripted').baseHash)
  })

  it('what the upstream says of a completion is one', async () => {
    const { upstream } = await start()
    const reply = await upstream.chat(callOf())
    if (reply.kind === 'whole') expect(ChatCompletion.parse(reply.completion)).toEqual(reply.completion)
    expect.assertions(1)
  })
})
