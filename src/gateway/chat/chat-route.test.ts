import { APIError } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { openAiUpstream } from '../../model/openai/index.ts'
import { ServeConfig } from '../config.ts'
import { createGateway } from '../create-gateway.ts'
import { GatewayError } from '../errors.ts'
import { jsonOf } from '../../../test/support/gateway-parts.ts'
import { listeningGateway, type ListeningGateway } from '../../../test/support/listening-gateway.ts'

let gateway: ListeningGateway
afterEach(() => gateway.close())

const user = (content: string) => [{ role: 'user' as const, content }]
const ask = { model: 'scripted', messages: user('hello there') }
const path = '/v1/chat/completions'

/** The `data` of every event, as it came. */
const eventsOf = async (response: Response) =>
  (await response.text())
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => event.replace(/^data: /, ''))

describe('a whole answer', () => {
  it('comes under the id of its record, after the commit', async () => {
    gateway = await listeningGateway()
    const { data, response } = await gateway.client().chat.completions.create(ask).withResponse()
    const [call] = gateway.recorder.calls
    expect(data.choices[0]?.message.content).toBe('You said: hello there')
    expect(data.id).toBe(call?.responseId)
    expect(response.headers.get('x-request-id')).toMatch(/^c_/)
    expect(response.headers.get('ratchet-trajectory')).toMatch(/^t_/)
    expect(response.headers.get('ratchet-response')).toBe(data.id)
    expect(call?.end).toMatchObject({
      stopReason: 'done',
      failure: null,
      answer: { upstream: 'scripted', servedModel: 'scripted', choices: [{ finish: 'stop' }] },
    })
    expect(gateway.telemetry.ends).toMatchObject([{ status: 200, committed: { recorded: true }, responseId: data.id }])
    expect(gateway.door.inside).toBe(0)
  })

  it('is no answer when it cannot be recorded', async () => {
    gateway = await listeningGateway()
    const full = { code: 'store/disk-full', message: 'No space on /secret/path.', hint: 'Make room.' }
    gateway.recorder.commit = () => Promise.reject(new GatewayError({ ...full, status: 500, type: 'server_error' }))
    const response = await gateway.post(path, ask)
    expect(response.status).toBe(500)
    expect(await jsonOf(response)).toMatchObject({ error: { code: 'store/disk-full' } })
    expect(gateway.telemetry.ends).toMatchObject([{ committed: { recorded: false } }])
  })

  it('says that it was not recorded, under best-effort', async () => {
    gateway = await listeningGateway()
    gateway.recorder.commit = () => Promise.resolve({ recorded: false, reason: 'the disk\nis full' })
    const whole = await gateway.post(path, ask)
    expect(whole.status).toBe(200)
    expect(whole.headers.get('ratchet-recorded')).toBe('false; the disk is full')
    const stream = await (await gateway.post(path, { ...ask, stream: true })).text()
    expect(stream).toContain(': ratchet-recorded: false; the disk is full\n\n')
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('cut off by its budget is recorded as cut off', async () => {
    gateway = await listeningGateway()
    await gateway.client().chat.completions.create({ ...ask, max_tokens: 2 })
    expect(gateway.recorder.calls[0]?.end).toMatchObject({
      stopReason: 'token-budget',
      answer: { choices: [{ finish: 'length' }] },
    })
  })
})

describe('a streamed answer', () => {
  it('comes as the upstream says it, to the SDK', async () => {
    gateway = await listeningGateway()
    const stream = gateway.client().chat.completions.stream(ask)
    const deltas: string[] = []
    stream.on('content', (delta) => deltas.push(delta))
    const completion = await stream.finalChatCompletion()
    const [call] = gateway.recorder.calls
    expect(deltas.length).toBeGreaterThan(3)
    expect(deltas.join('')).toBe('You said: hello there')
    expect(completion).toMatchObject({ id: call?.responseId, choices: [{ finish_reason: 'stop' }] })
    expect(call?.end).toMatchObject({ stopReason: 'done', answer: { usage: { completionTokens: 8 } } })
    expect(call?.end?.answer?.firstTokenAt).toBeGreaterThan(0)
    expect(call?.progress).toBeGreaterThan(3)
    expect(gateway.telemetry.firstTokens).toBe(1)
    expect(gateway.door.inside).toBe(0)
  })

  it('sends each chunk on before the next one comes', async () => {
    gateway = await listeningGateway({ upstream: { chunkDelayMs: 30 } })
    const times: number[] = []
    for await (const _ of await gateway.client().chat.completions.create({ ...ask, stream: true })) {
      times.push(performance.now())
    }
    const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
    expect(gaps.filter((gap) => gap > 15).length).toBeGreaterThan(gaps.length / 2)
  })

  it.each([1, 2])('with %i choices ends after the commit, and not before', async (n) => {
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
    const seen: (string | null)[] = []
    const stream = await gateway.client().chat.completions.create({ ...ask, n, stream: true })
    const read = (async () => {
      for await (const { choices } of stream) for (const { finish_reason } of choices) seen.push(finish_reason)
    })()
    await asked
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(seen.length).toBeGreaterThan(5)
    expect(seen.filter((reason) => reason === 'stop')).toHaveLength(n - 1)
    commit()
    await read
    expect(seen.filter((reason) => reason === 'stop')).toHaveLength(n)
  })

  it('that cannot be recorded ends in an error in the place of its end', async () => {
    gateway = await listeningGateway()
    gateway.recorder.commit = () => Promise.reject(new Error('the disk is full: /secret/path'))
    const events = await eventsOf(await gateway.post(path, { ...ask, stream: true }))
    expect(events.at(-1)).toContain('"error"')
    expect(events.join('')).not.toMatch(/\[DONE\]|"stop"|secret/)
    const stream = await gateway.client().chat.completions.create({ ...ask, stream: true })
    const read = async () => {
      for await (const _ of stream);
    }
    await expect(read()).rejects.toThrow(APIError)
  })

  it('ends well when the upstream breaks after all was said', async () => {
    gateway = await listeningGateway()
    gateway.upstream.fail('no-done')
    const events = await eventsOf(await gateway.post(path, { ...ask, stream: true }))
    expect(events.at(-1)).toBe('[DONE]')
    expect(gateway.recorder.calls[0]?.end).toMatchObject({ stopReason: 'done' })
  })
})

describe('what the client asked for', () => {
  const told = ['token_ids', 'prompt_token_ids', 'engine', 'usage', '"content":[']

  it.each([false, true])('is all that it sees (stream: %s), while the record has the tokens', async (stream) => {
    gateway = await listeningGateway({ upstream: { tellsTokens: true }, reaching: { tellsTokens: 'yes' } })
    const text = await (await gateway.post(path, { ...ask, stream })).text()
    for (const field of told) if (stream || field !== 'usage') expect(text).not.toContain(field)
    expect(gateway.upstream.requests[0]?.body).toMatchObject({ return_token_ids: true, logprobs: true })
    const answer = gateway.recorder.calls[0]?.end?.answer
    expect(answer?.promptTokens?.length).toBeGreaterThan(3)
    expect(answer?.choices[0]?.tokens).toHaveLength(8)
    expect(answer?.choices[0]?.logprobs).toHaveLength(8)
  })

  it.each([false, true])('it sees (stream: %s)', async (stream) => {
    gateway = await listeningGateway({ upstream: { tellsTokens: true }, reaching: { tellsTokens: 'yes' } })
    const more = { return_token_ids: true, logprobs: true, stream_options: { include_usage: true } }
    const text = await (await gateway.post(path, { ...ask, ...more, stream })).text()
    for (const field of told) if (field !== 'engine') expect(text).toContain(field)
  })

  it('goes on to the upstream unchanged, with all that is not known here', async () => {
    gateway = await listeningGateway({ reaching: { tellsTokens: 'no' } })
    const body = {
      ...ask,
      messages: [{ ...user('hi')[0], cache_control: { type: 'ephemeral' }, ü: [null, 1e21, 'ü'] }],
      temperature: 0.5,
      chat_template_kwargs: { enable_thinking: false },
      user: 'u',
    }
    await gateway.post(path, body)
    expect(gateway.upstream.requests[0]?.raw).toBe(JSON.stringify(body))
  })
})

describe('tools', () => {
  const weather = {
    type: 'function' as const,
    function: {
      name: 'weather',
      description: 'Tells the weather.',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
      parse: JSON.parse,
      function: ({ city }: { city: string }) => `Sunny in ${city}.`,
    },
  }

  it.each([false, true])('are called and answered through the SDK (stream: %s)', async (stream) => {
    gateway = await listeningGateway()
    const request = { model: 'scripted', messages: user('!weather {"city": "Rome"}'), tools: [weather] }
    const { completions } = gateway.client('/s/one/v1').chat
    const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request)
    expect(await runner.finalContent()).toBe('The tool said: Sunny in Rome.')
    const [first, second] = gateway.recorder.calls
    expect(first?.end?.answer?.choices[0]).toMatchObject({
      finish: 'tool_calls',
      message: { toolCalls: [{ name: 'weather', arguments: { city: 'Rome' } }] },
    })
    expect(second?.context.session).toBe('one')
  })

  it('whose arguments are no JSON are recorded as the model wrote them', async () => {
    gateway = await listeningGateway({
      upstream: { say: () => ({ toolCalls: [{ name: 'weather', arguments: '{"city": Rome' }] }) },
    })
    const { choices } = await gateway.client().chat.completions.create({ ...ask, tools: [weather] })
    expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { arguments: '{"city": Rome' } })
    expect(gateway.recorder.calls[0]?.end?.answer?.choices[0]?.message.malformedCalls).toHaveLength(1)
  })
})

describe('an upstream that fails before its answer', () => {
  it.each([
    ['refused', 400, 'invalid_request_error'],
    ['not-found', 404, 'invalid_request_error'],
    ['rate-limit', 429, 'rate_limit_error'],
    ['overloaded', 503, 'server_error'],
    ['server-error', 502, 'upstream_error'],
    ['html-error', 502, 'upstream_error'],
    ['reset', 502, 'upstream_error'],
    ['broken-json', 502, 'upstream_error'],
    ['hang', 504, 'upstream_error'],
  ] as const)('%s is told as %i, and recorded', async (kind, status, type) => {
    gateway = await listeningGateway({ reaching: { firstByteTimeoutMs: 200, tellsTokens: 'no' } })
    gateway.upstream.fail(kind)
    const response = await gateway.post(path, ask)
    expect(response.status).toBe(status)
    expect(await jsonOf(response)).toMatchObject({ error: { type } })
    expect(response.headers.get('ratchet-trajectory')).toMatch(/^t_/)
    expect(response.headers.get('retry-after')).toBe(status === 429 || status === 503 ? '1' : null)
    expect(gateway.recorder.calls[0]?.end).toMatchObject({
      answer: null,
      stopReason: 'model-error',
      failure: { code: expect.stringMatching(/^model\//) },
    })
    expect(gateway.telemetry.ends).toMatchObject([{ status }])
    expect(gateway.door.inside).toBe(0)
  })

  it('says so in its own words, when it refuses', async () => {
    gateway = await listeningGateway()
    const body = { error: { message: 'No.', type: 'made_up', param: 'x', code: 7 }, more: true }
    gateway.upstream.set({ refuse: () => ({ status: 422, body }) })
    const response = await gateway.post(path, ask)
    expect(response.status).toBe(422)
    expect(await jsonOf(response)).toEqual(body)
  })

  it('still says so when the failure cannot be recorded', async () => {
    gateway = await listeningGateway({ reaching: { tellsTokens: 'no' } })
    gateway.recorder.commit = () => Promise.reject(new Error('full'))
    gateway.upstream.fail('refused')
    expect((await gateway.post(path, ask)).status).toBe(400)
  })

  it('fails a stream with a status, too', async () => {
    gateway = await listeningGateway()
    gateway.upstream.fail('error-first')
    expect((await gateway.post(path, { ...ask, stream: true })).status).toBe(502)
  })
})

describe('an upstream that fails in the middle', () => {
  it.each(['cut', 'cut-clean', 'error-midway', 'error-event', 'hang-midway', 'broken-json', 'broken-shape'] as const)(
    '%s: what came is recorded, and the SDK is told',
    async (kind) => {
      gateway = await listeningGateway({ reaching: { idleTimeoutMs: 200 } })
      gateway.upstream.fail(kind)
      const stream = await gateway.client().chat.completions.create({ ...ask, stream: true })
      let text = ''
      const read = async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      }
      await expect(read()).rejects.toThrow(APIError)
      expect(text).toMatch(/^You/)
      expect(gateway.recorder.calls[0]?.end).toMatchObject({
        stopReason: 'model-error',
        failure: { code: expect.stringMatching(/^model\//) },
        answer: { choices: [{ finish: null, message: { content: text } }] },
      })
      expect(gateway.door.inside).toBe(0)
    },
  )
})

describe('a client that goes away', () => {
  it.each([true, false])('cancels the upstream, and what came is recorded (stream: %s)', async (stream) => {
    gateway = await listeningGateway({ upstream: stream ? { chunkDelayMs: 50 } : { delayMs: 10_000 } })
    const abort = new AbortController()
    const response = fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask, stream }),
      signal: abort.signal,
    })
    if (stream) await (await response).body?.getReader().read()
    else await expect.poll(() => gateway.upstream.requests.length).toBe(1)
    abort.abort()
    await response.catch(() => {})
    await expect.poll(() => gateway.recorder.calls[0]?.end?.stopReason).toBe('cancelled')
    await expect.poll(() => gateway.upstream.abandoned).toBe(1)
    const end = gateway.recorder.calls[0]?.end
    expect(end?.failure).toBeNull()
    expect(end?.answer === null).toBe(!stream)
    await expect.poll(() => gateway.telemetry.ends).toMatchObject([{ status: 499 }])
    await expect.poll(() => gateway.door.inside).toBe(0)
  })

  it('in the middle of its own request leaves nothing behind', async () => {
    gateway = await listeningGateway()
    const abort = new AbortController()
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"model": "scripted", ')),
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' as const }
    const response = fetch(`${gateway.url}${path}`, { ...init, signal: abort.signal })
    setTimeout(() => abort.abort(), 50)
    await expect(response).rejects.toThrow()
    await expect.poll(() => gateway.door.inside).toBe(0)
    expect(gateway.recorder.calls).toHaveLength(0)
  })
})

describe('a request that comes again', () => {
  const completion = {
    id: 'chatcmpl-before',
    object: 'chat.completion' as const,
    created: 1,
    model: 'scripted',
    choices: [
      {
        index: 0,
        message: { role: 'assistant' as const, content: 'As before.' },
        finish_reason: 'stop',
        token_ids: [1, 2],
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  }

  it('gets the answer that it got', async () => {
    gateway = await listeningGateway()
    gateway.recorder.replays.set('k', completion)
    const options = { headers: { 'idempotency-key': 'k' } }
    const { data, response } = await gateway.client().chat.completions.create(ask, options).withResponse()
    expect(data).toMatchObject({ id: 'chatcmpl-before', choices: [{ message: { content: 'As before.' } }] })
    expect(JSON.stringify(data)).not.toContain('token_ids')
    expect(response.headers.get('ratchet-replayed')).toBe('true')
    const again = gateway.client().chat.completions.stream(ask, options)
    expect(await again.finalContent()).toBe('As before.')
    expect(gateway.recorder.calls).toHaveLength(0)
    expect(gateway.upstream.requests).toHaveLength(0)
    expect(gateway.telemetry.ends).toMatchObject([{ status: 200, committed: null }, { status: 200 }])
  })

  it('is told to wait while it is being answered', async () => {
    gateway = await listeningGateway()
    gateway.recorder.replays.set('k', 'in-flight')
    const response = await gateway.post(path, ask, { 'idempotency-key': 'k' })
    expect(response.status).toBe(409)
    expect(response.headers.get('retry-after')).toBe('1')
    expect(gateway.door.inside).toBe(0)
  })
})

describe('what a client says beside the body', () => {
  it('is told to the recorder', async () => {
    gateway = await listeningGateway()
    await gateway.post(
      '/s/a%20b%2Fc/v1/chat/completions',
      { ...ask, user: 'from the body' },
      {
        'ratchet-agent': 'support',
        'ratchet-train': 'False',
        'idempotency-key': 'k-1',
        'x-stainless-retry-count': '2',
        authorization: 'Bearer sk-theirs',
      },
    )
    expect(gateway.recorder.calls[0]?.context).toMatchObject({
      session: 'a b/c',
      agent: 'support',
      subject: 'from the body',
      train: false,
      idempotencyKey: 'k-1',
      retry: 2,
    })
    expect(gateway.upstream.requests[0]?.headers.authorization).toBe('Bearer sk-theirs')
  })

  it.each([
    [{ 'ratchet-session': '' }, 'ratchet-session'],
    [{ 'ratchet-session': 'x'.repeat(257) }, 'ratchet-session'],
    [{ 'ratchet-agent': 'tab\tbed' }, 'ratchet-agent'],
    [{ 'ratchet-subject': '\xe4' }, 'ratchet-subject'],
    [{ 'ratchet-train': 'no' }, 'ratchet-train'],
    [{ 'idempotency-key': 'x'.repeat(300) }, 'idempotency-key'],
    [{ 'idempotency-key': '' }, 'idempotency-key'],
    [{ 'x-stainless-retry-count': '-1' }, 'x-stainless-retry-count'],
  ])('is refused when it cannot be understood: %j', async (headers, param) => {
    gateway = await listeningGateway()
    const response = await gateway.post(path, ask, headers)
    expect(response.status).toBe(400)
    expect(await jsonOf(response)).toMatchObject({ error: { param, type: 'invalid_request_error' } })
    expect(gateway.recorder.calls).toHaveLength(0)
  })

  it('may be in any language', async () => {
    gateway = await listeningGateway()
    const name = 'Ünï 語'
    await gateway.post(path, ask, { 'ratchet-session': Buffer.from(name).toString('latin1') })
    await gateway.post(`/s/${encodeURIComponent(name)}${path}`, ask)
    expect(gateway.recorder.calls.map(({ context }) => context.session)).toEqual([name, name])
  })

  it('must not contradict itself', async () => {
    gateway = await listeningGateway()
    const response = await gateway.post(`/s/a${path}`, ask, { 'ratchet-session': 'b' })
    expect(response.status).toBe(400)
    expect(await jsonOf(response)).toMatchObject({ error: { code: 'gateway/session-conflict' } })
    expect((await gateway.post(`/s/a${path}`, ask, { 'ratchet-session': 'a' })).status).toBe(200)
  })
})

it.each([
  [{}, 'model'],
  [{ model: 'm' }, 'messages'],
  [{ model: 'm', messages: [] }, 'messages'],
  [{ model: 'm', messages: [{ role: 'user', content: 7 }] }, 'messages.0.content'],
  [{ model: 'm', messages: [{ role: 'robot', content: 'x' }] }, 'messages.0.role'],
  [{ ...ask, temperature: 'hot' }, 'temperature'],
  [{ ...ask, n: 0 }, 'n'],
  [{ ...ask, tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
  [[], null],
  ['"text"', null],
  ['null', null],
])('names what is wrong with %j', async (body, param) => {
  gateway = await listeningGateway()
  const response = await gateway.post(path, body)
  expect(response.status).toBe(400)
  expect(await jsonOf(response)).toMatchObject({
    error: { type: 'invalid_request_error', param, code: 'gateway/invalid-request' },
  })
})

describe('a stream that comes at once', () => {
  it('lets everybody else be served between its chunks', async () => {
    gateway = await listeningGateway()
    const head = { id: 'x', object: 'chat.completion.chunk' as const, created: 1, model: 'scripted' }
    async function* chunks() {
      for (let i = 0; i < 4_000; i++) yield { ...head, choices: [{ index: 0, delta: { content: 'a' } }] }
      yield { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    }
    const chat = () => Promise.resolve({ kind: 'stream' as const, chunks: chunks(), upstream: 'fast' })
    const fast = createGateway({
      config: ServeConfig.parse({}),
      upstream: { ...openAiUpstream({ name: 'fast', url: gateway.upstream.url }), chat },
      recorder: gateway.recorder,
      doorkeeper: gateway.door,
      telemetry: gateway.telemetry,
    })
    const state = { turns: 0, over: false }
    const count = () => {
      state.turns += 1
      if (!state.over) setImmediate(count)
    }
    const body = JSON.stringify({ ...ask, stream: true })
    const headers = { 'content-type': 'application/json' }
    const response = await fast.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body }))
    setImmediate(count)
    const text = await response.text()
    state.over = true
    expect(text.match(/"content":"a"/g)).toHaveLength(4_000)
    expect(state.turns).toBeGreaterThan(10)
  })
})
