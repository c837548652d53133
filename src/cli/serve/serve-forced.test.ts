import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatUpstream, Store, TrajectoryId } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { policySamples } from '../../agent/index.ts'
import { type RunningGateway, ServeConfig } from '../../gateway/index.ts'
import { silent } from '../../gateway/log.ts'
import { fitOf } from '../../learn/source/traffic/fit.ts'
import { chatUpstream, openEmbeddedModel } from '../../model/index.ts'
import { reproducibleTemperature } from '../../optimize/weights/fit-samples.ts'
import { openMemoryStore } from '../../store/index.ts'
import { serveReleases } from './serve-releases.ts'

/* MiniMind2-Small, which seldom calls a tool by itself, behind the gateway, asked by OpenAI's own client. */

const weather: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Tells the weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string', enum: ['Paris', '上海'] },
        days: { type: 'integer', minimum: 1, maximum: 7 },
      },
      required: ['city', 'days'],
    },
  },
}
const open: OpenAI.ChatCompletionTool = {
  type: 'function',
  function: { name: 'open', parameters: { type: 'object', properties: {} } },
}
const messages = [{ role: 'user' as const, content: '上海明天天气怎么样？' }]

let store: Store
let upstream: ChatUpstream
let gateway: RunningGateway
let client: OpenAI
beforeAll(async () => {
  store = await openMemoryStore()
  const { service } = await openEmbeddedModel({ reference: 'minimind2-small', deterministic: true })
  upstream = chatUpstream({ name: 'embedded', service, ownsService: true })
  gateway = await serveReleases({
    config: ServeConfig.parse({ port: 0 }),
    store,
    upstream,
    exclusive: true,
    logger: silent,
  })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'none', maxRetries: 0 })
}, 60_000)
afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await store.close()
})

const asks = { model: 'minimind2-small', messages, max_tokens: 80, seed: 1 }
const argumentsOf = (call: OpenAI.ChatCompletionMessageToolCall | undefined) => {
  if (call?.type !== 'function') throw new Error('no call')
  const { city, days, ...others } = JSON.parse(call.function.arguments) as Record<string, unknown>
  expect(['Paris', '上海']).toContain(city)
  expect([1, 2, 3, 4, 5, 6, 7]).toContain(days)
  expect(others).toEqual({})
  return call.function.name
}

describe('a forced call', () => {
  it('may be several, where the request does not rule it out', async () => {
    const { choices } = await client.chat.completions.create({
      ...asks,
      max_tokens: 150,
      tools: [weather],
      tool_choice: 'required',
    })
    const calls = choices[0]?.message.tool_calls ?? []
    expect(calls.length).toBeGreaterThanOrEqual(1)
    for (const call of calls) expect(argumentsOf(call)).toBe('get_weather')
  })

  it.each([0, 1, 1.5])('comes, with arguments of its schema, at temperature %d', async (temperature) => {
    const { choices } = await client.chat.completions.create({
      ...asks,
      temperature,
      tools: [weather],
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
    expect(choices[0]?.finish_reason).toBe('tool_calls')
    expect(choices[0]?.message.content).toBe(null)
    expect(choices[0]?.message.tool_calls).toHaveLength(1)
    expect(argumentsOf(choices[0]?.message.tool_calls?.[0])).toBe('get_weather')
  })

  it('comes by name, streamed, and is kept out of policy gradients', async () => {
    const choice = { type: 'function', function: { name: 'get_weather' } } as const
    const { data, response } = await client.chat.completions
      .create({ ...asks, tools: [open, weather], tool_choice: choice, parallel_tool_calls: false, stream: true })
      .withResponse()
    let text = ''
    let finish: string | null = null
    for await (const { choices } of data) {
      for (const { function: called } of choices[0]?.delta.tool_calls ?? []) text += called?.arguments ?? ''
      finish = choices[0]?.finish_reason ?? finish
    }
    expect(finish).toBe('tool_calls')
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['city', 'days'])
    const id = response.headers.get('ratchet-trajectory') as TrajectoryId
    const { trajectory } = present(await store.trajectories.get(id), 'the trajectory')
    const span = present(
      trajectory.nodes.flatMap(({ spans }) => spans).find(({ kind }) => kind === 'sampled'),
      'the span',
    )
    expect(span).toMatchObject({ sampling: { truncated: true } })
    // Neither traffic nor whoever deposits it by hand gets it into a policy gradient (invariant 2).
    const decision = present(
      trajectory.decisions.find(({ output }) => output !== null),
      'the decision',
    )
    const { temperatures, unfit } = fitOf(trajectory, decision.parameter)
    expect([temperatures.size, unfit]).toEqual([0, 'truncated'])
    const credit = { trajectory: id, decision: decision.id, advantage: 1 }
    const samples = policySamples.deposit(trajectory, [{ decision, credit }])
    expect(samples).toMatchObject([{ truncated: true }])
    expect(() => reproducibleTemperature(samples)).toThrow(
      expect.objectContaining({ code: 'optimize/truncated-samples' }),
    )
    if (span.kind !== 'sampled') return
    const [told, own] = [present(span.behaviourLogprobs, 'behaviour'), span.logprobs]
    told.forEach((logprob, i) => expect(logprob).toBeGreaterThanOrEqual(own[i]! - 1e-4))
    expect(told.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(own.reduce((sum, one) => sum + one, 0) + 1)
  })
})

describe('JSON', () => {
  it('comes as the schema has it', async () => {
    const schema = {
      type: 'object',
      properties: { kind: { enum: ['cat', 'dog'] }, sure: { type: 'boolean' } },
      required: ['kind', 'sure'],
      additionalProperties: false,
    }
    const { choices } = await client.chat.completions.create({
      ...asks,
      response_format: { type: 'json_schema', json_schema: { name: 'pet', strict: true, schema } },
    })
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({
      kind: expect.stringMatching(/cat|dog/) as string,
      sure: expect.any(Boolean) as boolean,
    })
    expect(choices[0]?.finish_reason).toBe('stop')
  })

  it('begins as an object, and says so where its length cuts it', async () => {
    const { choices } = await client.chat.completions.create({
      ...asks,
      max_tokens: 3,
      response_format: { type: 'json_object' },
    })
    expect(choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: expect.stringMatching(/^\s*\{/) as string },
    })
  })

  it('of a schema that cannot be held is refused by its place', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } }
    const refused = client.chat.completions.create({
      ...asks,
      response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
    })
    await expect(refused).rejects.toMatchObject({
      status: 400,
      param: 'response_format',
      message: expect.stringContaining('#/properties/a/pattern') as string,
    })
  })
})
