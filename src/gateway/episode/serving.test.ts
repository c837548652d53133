import OpenAI from 'openai'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { listeningGateway, type ListeningGateway } from '../../../test/support/listening-gateway.ts'
import type { Store, Trajectory } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { readResponseId } from './ids.ts'
import { pathIn, recorderOver, tokensAlong } from './recorder.conformance.ts'
import type { ForgetfulRecorder } from './recorder-options.ts'

/** The recorder behind the gateway's HTTP side, with a real client and a real upstream. */

let store: Store
let recorder: ForgetfulRecorder
let gateway: ListeningGateway

beforeEach(async () => {
  store = await openMemoryStore()
  recorder = recorderOver(store, { config: { journalMs: 20, idempotencyHours: 24, train: true } })
  gateway = await listeningGateway({ recorder, upstream: { tellsTokens: true } })
})
afterEach(async () => {
  await gateway.close()
  await recorder.close()
  await store.close()
})

const recorded = async (): Promise<readonly Trajectory[]> =>
  (await store.trajectories.list({ limit: 10 })).map(({ trajectory }) => trajectory)
const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'find', parameters: {} } }]

it('records a streamed tool loop with the exact tokens that its upstream tells', async () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: '!find {"a": 1}\n!find {"b": 2}' }]
  const ids: string[] = []
  for (let i = 0; i < 2; i += 1) {
    const completion = await gateway
      .client()
      .chat.completions.stream({ model: 'scripted', messages, tools })
      .finalChatCompletion()
    const message = completion.choices[0]!.message
    ids.push(completion.id)
    messages.push(message)
    for (const { id } of message.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: 'found' })
  }
  const [trajectory, ...others] = await recorded()
  expect(others).toEqual([])
  const last = readResponseId(ids[1]!)
  expect(last?.trajectory).toBe(trajectory?.id)
  const path = pathIn(trajectory!, last?.node)
  expect(path.map(({ message }) => message.role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant'])
  const spans = path.flatMap(({ spans }) => spans.map(({ kind }) => kind))
  expect(spans.filter((kind) => kind === 'sampled').length).toBeGreaterThan(0)
  expect(tokensAlong(path).length).toBeGreaterThan(10)
  expect(trajectory?.steps).toHaveLength(2)
})

it('keeps what a client read that went away', async () => {
  gateway.upstream.set({ chunkDelayMs: 20, say: () => 'word '.repeat(200) })
  const stream = await gateway.client().chat.completions.create({
    model: 'scripted',
    messages: [{ role: 'user', content: 'go on' }],
    stream: true,
  })
  let seen = 0
  for await (const _ of stream) if ((seen += 1) === 5) break
  await vi.waitFor(async () => expect(await recorded()).toHaveLength(1))
  const [trajectory] = await recorded()
  expect(trajectory).toMatchObject({ stopReason: 'cancelled', steps: [{ call: { finish: null } }] })
  expect(trajectory?.nodes[1]?.message.content).toMatch(/^word /)
})

it('makes one Decision of a request that an SDK repeats', async () => {
  gateway.upstream.fail('reset')
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'none', maxRetries: 2 })
  const completion = await client.chat.completions.create({
    model: 'scripted',
    messages: [{ role: 'user', content: 'hello' }],
  })
  const [trajectory, ...others] = await recorded()
  expect(others).toEqual([])
  expect(trajectory?.id).toBe(readResponseId(completion.id)?.trajectory)
  expect(trajectory?.decisions).toHaveLength(1)
  expect(trajectory?.steps[0]?.call?.retryOf).toMatch(/^c_/)
})
