import { APIError, BadRequestError } from 'openai'
import type {
  Response as OpenAiResponse,
  ResponseInput,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import { afterEach, describe, expect, it } from 'vitest'
import { jsonOf } from '../../../test/support/gateway-parts.ts'
import { listeningGateway, type ListeningGateway } from '../../../test/support/listening-gateway.ts'

let gateway: ListeningGateway
afterEach(() => gateway.close())

const ask = { model: 'scripted', input: 'hello there' }
const path = '/v1/responses'

const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'Tells the weather.',
  strict: true,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

describe('a whole response', () => {
  it('has what the SDK reads', async () => {
    gateway = await listeningGateway({ upstream: { cachedTokens: 2 } })
    const { data, response } = await gateway
      .client()
      .responses.create({ ...ask, instructions: 'Be brief.', metadata: { a: 'b' }, user: 'u', temperature: 0.5 })
      .withResponse()
    const [call] = gateway.recorder.calls
    expect(data).toMatchObject({
      id: call?.responseId.replace('chatcmpl-', 'resp_'),
      object: 'response',
      status: 'completed',
      model: 'scripted',
      output_text: 'You said: hello there',
      output: [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text' }] }],
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      store: false,
      error: null,
      incomplete_details: null,
      usage: { output_tokens: 8, input_tokens_details: { cached_tokens: 2 } },
    })
    expect(response.headers.get('ratchet-response')).toBe(data.id)
    expect(call?.context.subject).toBe('u')
    expect(call?.request.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello there' },
    ])
    expect(call?.end).toMatchObject({ stopReason: 'done' })
  })

  it('that its budget cut off is incomplete', async () => {
    gateway = await listeningGateway()
    const response = await gateway.client().responses.create({ ...ask, max_output_tokens: 2 })
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    })
    expect(gateway.upstream.requests[0]?.body).toMatchObject({ max_completion_tokens: 2 })
  })

  it('tells thoughts, refusals and broken calls as they are', async () => {
    gateway = await listeningGateway({
      upstream: {
        say: () => ({ reasoning: 'Hm.', content: 'So.', toolCalls: [{ name: 'f', arguments: '{"a' }] }),
      },
    })
    const response = await gateway.client().responses.create(ask)
    expect(response.output).toMatchObject([
      { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
      { type: 'message', content: [{ text: 'So.' }] },
      { type: 'function_call', name: 'f', arguments: '{"a' },
    ])
  })

  it('fails with the status that says why', async () => {
    gateway = await listeningGateway({ reaching: { tellsTokens: 'no' } })
    gateway.upstream.fail('refused')
    await expect(gateway.client().responses.create(ask)).rejects.toBeInstanceOf(BadRequestError)
    gateway.upstream.fail('server-error')
    await expect(gateway.client().responses.create(ask)).rejects.toMatchObject({ status: 502 })
  })
})

/** The types of a stream's events, repeated ones told once; and that they are numbered from 0. */
function typesOf(events: readonly ResponseStreamEvent[]): string[] {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, i) => i))
  return events.map(({ type }) => type).filter((type, i, all) => type !== all[i - 1])
}

describe('a streamed response', () => {
  const collect = async (stream: AsyncIterable<ResponseStreamEvent>) => {
    const events: ResponseStreamEvent[] = []
    for await (const event of stream) events.push(event)
    return events
  }

  it('has the documented events, in their order', async () => {
    gateway = await listeningGateway()
    const events = await collect(await gateway.client().responses.create({ ...ask, stream: true }))
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const text = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))
    expect(text.length).toBeGreaterThan(3)
    expect(text.join('')).toBe('You said: hello there')
  })

  it('is the same response that comes whole', async () => {
    const say = () => ({
      reasoning: 'Let me think.',
      content: 'Two calls.',
      toolCalls: [
        { id: 'a', name: 'weather', arguments: { city: 'Rome' } },
        { id: 'b', name: 'weather', arguments: { city: 'Oslo' } },
      ],
    })
    gateway = await listeningGateway({ upstream: { say } })
    const { responses } = gateway.client()
    const request = { ...ask, tools: [weather] }
    const whole = await responses.create(request)
    const stream = responses.stream(request)
    const events: ResponseStreamEvent[] = []
    stream.on('event', (event) => events.push(event))
    const streamed = await stream.finalResponse()
    const shape = (response: object) =>
      JSON.parse(JSON.stringify(response).replaceAll(/[0-9a-f]{24}-[0-9a-f]{24}/g, 'ID')) as Record<string, unknown>
    expect({ ...shape(streamed), created_at: 0 }).toMatchObject({ ...shape(whole), created_at: 0 })
    expect(typesOf(events)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.reasoning_text.delta',
      'response.reasoning_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ])
  })

  it('is complete after the commit, and not before', async () => {
    gateway = await listeningGateway()
    let commit = () => {}
    const asked = new Promise<void>((resolve) => {
      gateway.recorder.commit = () => {
        resolve()
        return new Promise((commits) => {
          commit = () => commits({ recorded: true, nodes: [] })
        })
      }
    })
    const seen: string[] = []
    const stream = await gateway.client().responses.create({ ...ask, stream: true })
    const read = (async () => {
      for await (const { type } of stream) seen.push(type)
    })()
    await asked
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(seen).toContain('response.output_text.delta')
    expect(seen).not.toContain('response.completed')
    commit()
    await read
    expect(seen.at(-1)).toBe('response.completed')
  })

  it.each([
    ['when the upstream breaks', (gateway: ListeningGateway) => gateway.upstream.fail('cut')],
    [
      'when it cannot be recorded',
      (gateway: ListeningGateway) => {
        gateway.recorder.commit = () => Promise.reject(new Error('full'))
      },
    ],
  ])('fails, and the SDK says so: %s', async (_, breaks) => {
    gateway = await listeningGateway()
    breaks(gateway)
    const events: ResponseStreamEvent[] = []
    const stream = await gateway.client().responses.create({ ...ask, stream: true })
    const read = async () => {
      for await (const event of stream) events.push(event)
    }
    await expect(read()).rejects.toThrow(APIError)
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' } },
    })
    expect(events.map(({ type }) => type)).not.toContain('response.completed')
  })

  it('tells log-probabilities to who asks for them', async () => {
    gateway = await listeningGateway({ upstream: { tellsTokens: true }, reaching: { tellsTokens: 'yes' } })
    const { responses } = gateway.client()
    const include = ['message.output_text.logprobs' as const]
    const told = await responses.stream({ ...ask, include, top_logprobs: 1 }).finalResponse()
    expect(told.output[0]).toMatchObject({
      content: [{ logprobs: expect.arrayContaining([{ token: 'You' }].map((x) => expect.objectContaining(x))) }],
    })
    const untold = await responses.stream(ask).finalResponse()
    expect(untold.output[0]).toMatchObject({ content: [{ logprobs: [] }] })
  })
})

describe('a conversation', () => {
  it.each([false, true])('of calls and their results goes on through the SDK (stream: %s)', async (stream) => {
    gateway = await listeningGateway()
    const { responses } = gateway.client('/s/one/v1')
    const turn = (input: ResponseInput): Promise<OpenAiResponse> => {
      const request = { model: 'scripted', input, tools: [weather] }
      return stream ? responses.stream(request).finalResponse() : responses.create(request)
    }
    const input: ResponseInput = [{ role: 'user', content: '!weather {"city": "Rome"}\n!weather {"city": "Oslo"}' }]
    const first = await turn(input)
    const calls = first.output.filter((item) => item.type === 'function_call')
    expect(calls.map((call) => JSON.parse(call.arguments) as object)).toEqual([{ city: 'Rome' }, { city: 'Oslo' }])
    const results = calls.map(({ call_id }, i) => ({
      type: 'function_call_output' as const,
      call_id,
      output: i === 0 ? 'Sunny.' : [{ type: 'input_text' as const, text: 'Rain.' }],
    }))
    const second = await turn([...input, ...(first.output as ResponseInput), ...results])
    expect(second.output_text).toBe('The tool said: Rain.')
    expect(gateway.upstream.requests[1]?.body?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: null, tool_calls: [{ id: calls[0]?.call_id }, { id: calls[1]?.call_id }] },
      { role: 'tool', tool_call_id: calls[0]?.call_id, content: 'Sunny.' },
      { role: 'tool', tool_call_id: calls[1]?.call_id, content: 'Rain.' },
    ])
    expect(gateway.recorder.calls[1]?.context.session).toBe('one')
  })

  it('may hold everything that a chat model can be told', async () => {
    gateway = await listeningGateway({ upstream: { models: [] }, reaching: { tellsTokens: 'no' } })
    await gateway.client().responses.create({
      model: 'm',
      input: [
        { role: 'developer', content: 'Rules.' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
          ],
        },
        { type: 'reasoning', id: 'rs', summary: [] },
        {
          type: 'message',
          id: 'msg',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'I see.', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'Fine.' },
        { role: 'assistant', content: 'Fine weather.' },
        { role: 'user', content: 'Thanks.' },
      ],
      tools: [weather],
      tool_choice: { type: 'function', name: 'weather' },
      parallel_tool_calls: false,
      text: { format: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'low' },
      temperature: 0,
      top_p: 0.9,
      store: true,
      truncation: 'auto',
      // @ts-expect-error What neither API names goes on.
      chat_template_kwargs: { enable_thinking: false },
    })
    expect(gateway.upstream.requests[0]?.body).toEqual({
      model: 'm',
      parallel_tool_calls: false,
      temperature: 0,
      top_p: 0.9,
      chat_template_kwargs: { enable_thinking: false },
      messages: [
        { role: 'developer', content: 'Rules.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'a.pdf' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I see.',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'Fine.' },
        { role: 'assistant', content: 'Fine weather.' },
        { role: 'user', content: 'Thanks.' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'Tells the weather.',
            parameters: weather.parameters,
            strict: true,
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' }, strict: true } },
      verbosity: 'low',
      reasoning_effort: 'low',
    })
  })
})

describe('what cannot be asked', () => {
  const message = { role: 'user', content: 'x' }
  it.each([
    [{ ...ask, previous_response_id: 'resp_1' }, 'previous_response_id', 'gateway/stateless'],
    [{ ...ask, conversation: { id: 'conv_1' } }, 'conversation', 'gateway/stateless'],
    [{ ...ask, background: true }, 'background', 'gateway/stateless'],
    [{ ...ask, prompt: { id: 'p' } }, 'prompt', 'gateway/stateless'],
    [{ ...ask, input: [{ type: 'item_reference', id: 'x' }] }, 'input.0', 'gateway/stateless'],
    [{ ...ask, tools: [weather, { type: 'web_search' }] }, 'tools.1.type', 'gateway/unsupported'],
    [{ ...ask, tool_choice: { type: 'mcp' } }, 'tool_choice.type', 'gateway/unsupported'],
    [{ ...ask, text: { format: { type: 'xml' } } }, 'text.format.type', 'gateway/unsupported'],
    [{ ...ask, input: [message, { type: 'computer_call' }] }, 'input.1.type', 'gateway/unsupported'],
    [
      { ...ask, input: [{ role: 'user', content: [{ type: 'video' }] }] },
      'input.0.content.0.type',
      'gateway/unsupported',
    ],
    [
      { ...ask, input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input.0.content.0.image_url',
      'gateway/invalid-request',
    ],
    [{ ...ask, input: [{ role: 'robot', content: 'x' }] }, 'input.0.role', 'gateway/invalid-request'],
    [
      { ...ask, input: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
      'input.0.call_id',
      'gateway/invalid-request',
    ],
    [{ ...ask, input: [] }, 'input', 'gateway/invalid-request'],
    [{ model: 'm' }, 'input', 'gateway/invalid-request'],
    [{ ...ask, tools: [{ type: 'function', name: '' }] }, 'tools.0.function.name', 'gateway/invalid-request'],
  ])('is refused by name: %j', async (body, param, code) => {
    gateway = await listeningGateway()
    const response = await gateway.post(path, body)
    expect(response.status).toBe(400)
    expect(await jsonOf(response)).toMatchObject({ error: { param, code } })
    expect(gateway.recorder.calls).toHaveLength(0)
  })
})

it('answers a repeated request as before, as the same response', async () => {
  gateway = await listeningGateway()
  gateway.recorder.replays.set('k', {
    id: 'chatcmpl-x',
    object: 'chat.completion',
    created: 1,
    model: 'scripted',
    choices: [{ index: 0, message: { role: 'assistant', content: 'As before.' }, finish_reason: 'stop' }],
  })
  const options = { headers: { 'idempotency-key': 'k' } }
  const { responses } = gateway.client()
  const whole = await responses.create(ask, options)
  expect(whole).toMatchObject({ id: 'resp_x', output_text: 'As before.' })
  expect(await responses.stream(ask, options).finalResponse()).toMatchObject({ id: 'resp_x', output: whole.output })
})
