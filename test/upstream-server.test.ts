import OpenAI, { AuthenticationError, NotFoundError, RateLimitError } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { ChatChunk, ChatCompletion } from '../src/core/index.ts'
import { nobody, startUpstream, type Upstream, type UpstreamOptions } from './support/upstream-server.mjs'

/** The scripted upstream is held against the real SDK, since everything else is held against the scripted upstream. */

const open: Upstream[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function start(options: UpstreamOptions = {}): Promise<{ server: Upstream; client: OpenAI }> {
  const server = await startUpstream(options)
  open.push(server)
  return { server, client: new OpenAI({ baseURL: server.url, apiKey: 'sk-test', maxRetries: 0 }) }
}

const model = 'scripted'
const user = (content: string) => [{ role: 'user' as const, content }]
const tool = (name: string) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: {} } },
})

describe('the OpenAI SDK', () => {
  it('gets an answer, whole and streamed', async () => {
    const { client } = await start()
    const whole = await client.chat.completions.create({ model, messages: user('hello') })
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'You said: hello' } })
    expect(ChatCompletion.parse(whole)).toMatchObject({ model })
    const stream = client.chat.completions.stream({
      model,
      messages: user('hello'),
      stream_options: { include_usage: true },
    })
    for await (const chunk of stream) ChatChunk.parse(chunk)
    const last = await stream.finalChatCompletion()
    expect(last.choices[0]?.message.content).toBe('You said: hello')
    expect(last.usage).toEqual(whole.usage)
  })

  it('runs a tool loop with parallel calls, streamed and not', async () => {
    const { client } = await start()
    const messages = user('!add {"a": 1, "b": 2}\n!add {"a": 3, "b": 4}')
    const asked = { model, messages, tools: [tool('add')] }
    const whole = await client.chat.completions.create(asked)
    const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
    for (const { choices } of [whole, streamed]) {
      expect(choices[0]?.finish_reason).toBe('tool_calls')
      const calls = choices[0]?.message.tool_calls ?? []
      expect(calls.map((call) => call.type === 'function' && JSON.parse(call.function.arguments))).toEqual([
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ])
      const results = calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: `7 from ${id}` }))
      const message = choices[0]?.message
      if (!message) throw new Error('no message')
      const next = await client.chat.completions.create({ ...asked, messages: [...messages, message, ...results] })
      expect(next.choices[0]?.message.content).toBe(`The tool said: 7 from ${calls.at(-1)?.id}`)
    }
  })

  it('gets several choices, log-probabilities, and JSON by a schema', async () => {
    const { client } = await start({ say: () => ['one', 'two words'] })
    const { choices } = await client.chat.completions.create({
      model,
      messages: user('hi'),
      n: 2,
      logprobs: true,
      top_logprobs: 1,
    })
    expect(choices.map(({ message }) => message.content)).toEqual(['one', 'two words'])
    expect(choices.map(({ logprobs }) => logprobs?.content?.map(({ token }) => token).join(''))).toEqual([
      'one',
      'two words',
    ])
    const { client: another } = await start()
    const schema = { type: 'object', properties: { ok: { type: 'boolean' }, tags: { type: 'array' } } }
    const json = await another.chat.completions.create({
      model,
      messages: user('hi'),
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
    })
    expect(JSON.parse(json.choices[0]?.message.content ?? '')).toEqual({ ok: true, tags: [] })
  })

  it('is cut at max_tokens', async () => {
    const { client } = await start()
    const { choices, usage } = await client.chat.completions.create({
      model,
      messages: user('hello'),
      max_completion_tokens: 3,
    })
    expect(choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'You said:' } })
    expect(usage?.completion_tokens).toBe(3)
  })

  it('lists models and embeds', async () => {
    const { client } = await start({ models: ['a', 'b'] })
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['a', 'b'])
    const { data } = await client.embeddings.create({ model: 'a', input: ['x', 'y'], encoding_format: 'float' })
    expect(data).toHaveLength(2)
  })

  it('is refused as OpenAI refuses', async () => {
    const { server, client } = await start({ apiKey: 'sk-right', strict: true })
    await expect(client.models.list()).rejects.toThrow(AuthenticationError)
    const right = client.withOptions({ apiKey: 'sk-right' })
    const messages = user('hi')
    await expect(right.chat.completions.create({ model: 'gone', messages })).rejects.toThrow(NotFoundError)
    await expect(right.chat.completions.create({ model, messages, return_token_ids: true } as never)).rejects.toThrow(
      'Unrecognized request argument supplied: return_token_ids',
    )
    server.fail({ kind: 'rate-limit', retryAfter: '3' })
    await expect(right.chat.completions.create({ model, messages })).rejects.toThrow(RateLimitError)
  })
})

describe('token ids, as vLLM tells them', () => {
  it('of a conversation that goes on begin with those that were read and sampled before', async () => {
    const { client } = await start({ tellsTokens: true })
    const asked = { model, tools: [tool('look')], return_token_ids: true }
    const messages: OpenAI.ChatCompletionMessageParam[] = user('!look {"at": "it"}')
    let known: readonly number[] = []
    for (let turn = 0; turn < 3; turn++) {
      const answer = ChatCompletion.parse(await client.chat.completions.create({ ...asked, messages }))
      const [choice] = answer.choices
      const prompt = answer.prompt_token_ids ?? []
      expect(prompt.slice(0, known.length)).toEqual(known)
      expect(prompt.length).toBeGreaterThan(known.length)
      expect(answer.usage).toMatchObject({
        prompt_tokens: prompt.length,
        completion_tokens: choice?.token_ids?.length,
      })
      known = [...prompt, ...(choice?.token_ids ?? [])]
      const message = choice?.message as OpenAI.ChatCompletionAssistantMessageParam
      messages.push(message)
      const [call] = message.tool_calls ?? []
      messages.push(call ? { role: 'tool', tool_call_id: call.id, content: 'a thing' } : user('and?')[0]!)
    }
  })
})

describe('faults', () => {
  it('by a queue and by the model’s name; the server outlives them all', async () => {
    const { server, client } = await start()
    server.fail('server-error', { kind: 'refused', status: 418 })
    const messages = user('hi')
    for (const status of [500, 418]) {
      await expect(client.chat.completions.create({ model, messages })).rejects.toMatchObject({ status })
    }
    await expect(client.chat.completions.create({ model: 'fault:overloaded', messages })).rejects.toMatchObject({
      status: 503,
    })
    expect((await client.chat.completions.create({ model, messages })).choices).toHaveLength(1)
  })

  it('counts whom it answered and who walked away, and can be gone', async () => {
    const { server, client } = await start()
    const messages = user('hi')
    await client.chat.completions.create({ model, messages })
    const controller = new AbortController()
    const hanging = client.chat.completions.create({ model: 'fault:hang', messages }, { signal: controller.signal })
    await expect.poll(() => server.requests.length).toBe(2)
    controller.abort()
    await expect(hanging).rejects.toThrow()
    await expect.poll(() => [server.answered, server.abandoned]).toEqual([1, 1])
    await server.goAway()
    await expect(client.models.list()).rejects.toThrow('Connection error')
    await server.comeBack()
    expect((await client.models.list()).data).toHaveLength(1)
    await expect(fetch(`${await nobody()}/models`)).rejects.toThrow()
  })
})

it('answers the same precomputed bytes in a load test', async () => {
  const { client } = await start({ canned: { text: 'the same words' }, tellsTokens: true })
  const asked = { model, messages: user('x'), return_token_ids: true }
  const whole = ChatCompletion.parse(await client.chat.completions.create(asked))
  expect(whole.choices[0]).toMatchObject({ message: { content: 'the same words' }, token_ids: expect.any(Array) })
  const streamed = await client.chat.completions.stream(asked).finalChatCompletion()
  expect(streamed.choices[0]?.message.content).toBe('the same words')
})
