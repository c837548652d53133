import { InternalServerError, OpenAI } from 'openai'
import type { ResponseInput } from 'openai/resources/responses/responses'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { type Store, type Trajectory, TrajectoryId } from '../../core/index.ts'
import { openAiUpstream } from '../../model/openai/index.ts'
import { DiskFullError, openMemoryStore } from '../../store/index.ts'
import { ServeConfig } from '../config.ts'
import { type RunningGateway, startGateway } from '../start-gateway.ts'

/** The gateway with its own recorder, door and telemetry, over a real store. */

let store: Store
let upstream: Upstream
let gateway: RunningGateway
afterEach(async () => {
  await gateway.close()
  await store.close()
  await upstream.close()
})

async function start(options: UpstreamOptions = {}, config: object = {}): Promise<void> {
  upstream = await startUpstream(options)
  store = await openMemoryStore()
  gateway = await startGateway({
    config: ServeConfig.parse({ port: 0, ...config }),
    store,
    upstream: openAiUpstream({ name: 'scripted', url: upstream.url, tellsTokens: options.tellsTokens ? 'yes' : 'no' }),
    exclusive: true,
    logger: pino({ level: 'silent' }),
  })
}

const client = (path = '/v1', maxRetries = 0) =>
  new OpenAI({ baseURL: `${gateway.url}${path}`, apiKey: 'none', maxRetries })

const user = (content: string) => [{ role: 'user' as const, content }]

async function stored(id: string | null): Promise<Trajectory> {
  const recorded = await store.trajectories.get(TrajectoryId.parse(id))
  if (!recorded) throw new Error(`nothing is stored of ${id}`)
  return recorded.trajectory
}

async function onlyStored(): Promise<Trajectory> {
  const all = await store.trajectories.list({ limit: 10 })
  expect(all).toHaveLength(1)
  return (all[0] as (typeof all)[number]).trajectory
}

const roles = ({ nodes }: Trajectory) => nodes.map(({ message }) => message.role)

const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}

describe('an agent that knows nothing of sessions', () => {
  it.each([false, true])('has its tool loop in one trajectory, by chat (stream: %s)', async (stream) => {
    await start({ tellsTokens: true })
    const tool = {
      type: 'function' as const,
      function: { ...weather, parse: JSON.parse, function: ({ city }: { city: string }) => `Sunny in ${city}.` },
    }
    const request = { model: 'scripted', messages: user('!weather {"city": "Rome"}'), tools: [tool] }
    const { completions } = client().chat
    const runner = stream ? completions.runTools({ ...request, stream }) : completions.runTools(request)
    expect(await runner.finalContent()).toBe('The tool said: Sunny in Rome.')
    const trajectory = await onlyStored()
    expect(roles(trajectory)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(trajectory.steps.map(({ call }) => call?.finish)).toEqual(['tool_calls', 'stop'])
    const sampled = trajectory.nodes.map(({ spans }) => spans.filter(({ kind }) => kind === 'sampled').length)
    expect(sampled).toEqual([0, 1, 0, 1])
  })

  it.each([false, true])('has its tool loop in one trajectory, by the Responses API (stream: %s)', async (stream) => {
    await start()
    const tools = [{ type: 'function' as const, strict: null, ...weather }]
    const turn = (input: ResponseInput) => {
      const request = { model: 'scripted', input, tools }
      return stream ? client().responses.stream(request).finalResponse() : client().responses.create(request)
    }
    let input: ResponseInput = user('!weather {"city": "Rome"}')
    const first = await turn(input)
    input = [...input, ...(first.output as ResponseInput)]
    for (const item of first.output) {
      if (item.type === 'function_call') {
        input.push({ type: 'function_call_output', call_id: item.call_id, output: 'Sunny.' })
      }
    }
    const second = await turn(input)
    expect(second.output_text).toBe('The tool said: Sunny.')
    expect(roles(await onlyStored())).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  it('has one decision where its SDK tried twice', async () => {
    await start()
    upstream.fail('server-error')
    const completion = await client('/v1', 1).chat.completions.create({ model: 'scripted', messages: user('hi') })
    expect(completion.choices[0]?.message.content).toBe('You said: hi')
    const { decisions, stopReason } = await onlyStored()
    expect(decisions).toHaveLength(1)
    expect(stopReason).toBe('done')
  })
})

it('gives the same answer to a request that comes again, by either API, whole or streamed', async () => {
  await start()
  for (const key of ['a', 'b']) {
    const options = { headers: { 'idempotency-key': key } }
    const ask = { model: 'scripted', ...(key === 'a' ? { messages: user('hi') } : { input: 'hi' }) }
    const once = async () => {
      if ('messages' in ask) return (await client().chat.completions.create(ask as never, options)) as { id: string }
      return client()
        .responses.stream(ask as never, options)
        .finalResponse()
    }
    const [first, again] = [await once(), await once()]
    expect(again.id).toBe(first.id)
    expect(first.id).toMatch(key === 'a' ? /^chatcmpl-/ : /^resp_/)
    const other = client().chat.completions.create({ model: 'scripted', messages: user('other') }, options)
    await expect(other).rejects.toMatchObject({ status: 409, code: 'gateway/idempotency-conflict' })
  }
  expect(upstream.requests).toHaveLength(2)
})

it('keeps what came of an answer whose client went away', async () => {
  await start({ chunkDelayMs: 30 })
  const stream = await client('/s/gone/v1').chat.completions.create({
    model: 'scripted',
    messages: user('one two three four five six seven eight nine ten'),
    stream: true,
  })
  let chunks = 0
  for await (const _ of stream) if ((chunks += 1) === 4) break
  await expect
    .poll(async () => (await store.trajectories.list({ limit: 1 }))[0]?.trajectory.stopReason)
    .toBe('cancelled')
  const { nodes, origin, steps } = await onlyStored()
  expect(steps[0]?.call).toMatchObject({ finish: null, cancelled: true })
  expect(nodes[1]?.message.content).toMatch(/^You said/)
  expect(nodes[1]?.message.content).not.toContain('ten')
  expect(origin).toMatchObject({ session: 'gone' })
})

it('records what failed, under the trajectory that the client is told', async () => {
  await start()
  upstream.fail('refused')
  const response = await fetch(`${gateway.url}/s/x/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'scripted', messages: user('hi') }),
  })
  expect(response.status).toBe(400)
  const trajectory = await stored(response.headers.get('ratchet-trajectory'))
  expect(trajectory).toMatchObject({ stopReason: 'model-error', failure: { code: 'model/upstream-refused' } })
})

describe('a store that cannot write', () => {
  const ask = { model: 'scripted', messages: user('hi') }
  const fills = () => {
    store.traffic.append = () => Promise.reject(new DiskFullError('the disk'))
  }

  it('fails the call where recording is required', async () => {
    await start()
    fills()
    await expect(client().chat.completions.create(ask)).rejects.toBeInstanceOf(InternalServerError)
    await expect(client().chat.completions.stream(ask).finalContent()).rejects.toThrow(/recorded/)
  })

  it('is said to the client under best-effort', async () => {
    await start({}, { record: 'best-effort' })
    fills()
    const { data, response } = await client().chat.completions.create(ask).withResponse()
    expect(data.choices[0]?.message.content).toBe('You said: hi')
    expect(response.headers.get('ratchet-recorded')).toMatch(/^false; /)
    expect(await client().chat.completions.stream(ask).finalContent()).toBe('You said: hi')
  })
})
