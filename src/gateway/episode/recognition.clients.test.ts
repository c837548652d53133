import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, type AgentInputItem, OpenAIChatCompletionsModel, Runner, tool as agentTool, user } from '@openai/agents'
import { generateText, type ModelMessage, stepCountIs, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AskedBody, type Said, startUpstream, type Upstream } from '../../../test/support/upstream-server.mjs'
import { ChatRequest, type Store, type TrajectoryId } from '../../core/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { called, pathIn, recorderOver, requestOf, stored } from './recorder.conformance.ts'

/**
 * Whether the conversations that real agents send back are known again: recognition fails without a sound, so every
 * client is run for real, and its requests are what is recorded.
 */

/** What a tool loop sends back that differs from what was said: one script for each difference. */
const scripts: Readonly<Record<string, Said>> = {
  'text and calls in one turn': {
    reasoning: 'hmm',
    content: ' Let me look. ',
    toolCalls: [
      { id: 'call_1', name: 'find', arguments: '{"b": 1.0,\n "a":"\\u00fc"}' },
      { id: 'call_2', name: 'find', arguments: '{"a":"x"}' },
    ],
  },
  'a call without arguments': {
    content: null,
    toolCalls: [
      { id: 'call_1', name: 'find', arguments: '' },
      { id: 'call_2', name: 'find', arguments: '{}' },
    ],
  },
  'arguments that are no JSON': {
    content: 'Let me look.',
    toolCalls: [
      { id: 'call_1', name: 'find', arguments: '{"a":"x"}' },
      { id: 'call_2', name: 'find', arguments: '{"a": ' },
    ],
  },
  'arguments that validation changes': {
    content: null,
    toolCalls: [{ id: 'call_1', name: 'find', arguments: '{"a":"x","unknown":1}' }],
  },
}

const parameters = z.object({ a: z.string().optional(), b: z.number().optional(), limit: z.number().default(10) })
const schema = { type: 'object' as const, properties: {}, required: [], additionalProperties: true as const }
const thanks = 'thanks'

type Client = (url: string, stream: boolean) => Promise<void>

const clients: Readonly<Record<string, Client>> = {
  async openai(baseURL, stream) {
    const client = new OpenAI({ apiKey: 'x', baseURL })
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'q' },
    ]
    const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'find', parameters: schema } }]
    for (let i = 0; i < 3; i += 1) {
      const asked = { model: 'scripted', messages, tools }
      const completion = stream
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked)
      const message = completion.choices[0]!.message
      messages.push(message)
      const calls = message.tool_calls ?? []
      for (const call of calls) messages.push({ role: 'tool', tool_call_id: call.id, content: 'r' })
      if (calls.length === 0) messages.push({ role: 'user', content: thanks })
    }
  },

  async 'openai runTools'(baseURL, stream) {
    const client = new OpenAI({ apiKey: 'x', baseURL })
    const find = {
      type: 'function' as const,
      function: { name: 'find', description: 'd', parameters: schema, parse: JSON.parse, function: () => 'r' },
    }
    const asked = { model: 'scripted', messages: [{ role: 'user' as const, content: 'q' }], tools: [find] }
    const runner = stream
      ? client.chat.completions.runTools({ ...asked, stream: true })
      : client.chat.completions.runTools(asked)
    await runner.finalContent()
  },

  async 'ai and @ai-sdk/openai-compatible'(baseURL, stream) {
    const model = createOpenAICompatible({ name: 'ratchet', baseURL, apiKey: 'x' })('scripted')
    const tools = { find: tool({ inputSchema: parameters, execute: () => 'r' }) }
    const messages: ModelMessage[] = [{ role: 'user', content: 'q' }]
    for (let i = 0; i < 2; i += 1) {
      const asked = { model, system: 's', messages, tools, stopWhen: stepCountIs(5) }
      if (stream) {
        const streamed = streamText(asked)
        await streamed.consumeStream()
        messages.push(...(await streamed.response).messages)
      } else {
        messages.push(...(await generateText(asked)).response.messages)
      }
      messages.push({ role: 'user', content: thanks })
    }
  },

  async '@langchain/openai'(baseURL, stream) {
    const find = langchainTool(() => 'r', { name: 'find', schema: parameters })
    const model = new ChatOpenAI({ model: 'scripted', apiKey: 'x', configuration: { baseURL } }).bindTools([find])
    const messages: BaseMessage[] = [new SystemMessage('s'), new HumanMessage('q')]
    for (let i = 0; i < 3; i += 1) {
      const message = stream ? await lastOf(await model.stream(messages)) : await model.invoke(messages)
      messages.push(message)
      const calls = [...(message.tool_calls ?? []), ...(message.invalid_tool_calls ?? [])]
      for (const { id = '' } of calls) messages.push(new ToolMessage({ content: 'r', tool_call_id: id }))
      if (calls.length === 0) messages.push(new HumanMessage(thanks))
    }
  },

  async '@openai/agents'(baseURL, stream) {
    const client = new OpenAI({ apiKey: 'x', baseURL })
    // The same class; its optional properties are typed more strictly here.
    const model = new OpenAIChatCompletionsModel(client as never, 'scripted')
    const find = agentTool({ name: 'find', description: 'd', parameters: schema, strict: false, execute: () => 'r' })
    const agent = new Agent({ name: 'a', instructions: 's', model, tools: [find] })
    const runner = new Runner({ tracingDisabled: true })
    let items: AgentInputItem[] = [user('q')]
    for (let i = 0; i < 2; i += 1) {
      if (stream) {
        const streamed = await runner.run(agent, items, { stream: true })
        await streamed.completed
        items = [...streamed.history, user(thanks)]
      } else {
        items = [...(await runner.run(agent, items)).history, user(thanks)]
      }
    }
  },
}

async function lastOf<T extends { concat(next: T): T }>(chunks: AsyncIterable<T>): Promise<T> {
  let whole: T | null = null
  for await (const chunk of chunks) whole = whole === null ? chunk : whole.concat(chunk)
  return whole!
}

/** First the script's turn, then an answer, then another. */
function sayer(first: Said) {
  return ({ messages }: AskedBody): Said => {
    if (messages.at(-1)?.role === 'tool') return { content: '\nIt is  42.\n' }
    return JSON.stringify(messages.at(-1)).includes(thanks) ? { content: 'You are welcome.' } : first
  }
}

let store: Store
let upstream: Upstream
beforeEach(async () => {
  store = await openMemoryStore()
})
afterEach(async () => {
  await upstream.close()
  await store.close()
})

describe.each(Object.keys(clients))('%s', (client) => {
  describe.each([
    ['whole', false],
    ['streamed', true],
  ])('%s', (_, stream) => {
    it.each(Object.keys(scripts))('sends back %s, and is recognised', async (script) => {
      const say = sayer(scripts[script]!)
      upstream = await startUpstream({ say })
      await clients[client]!(upstream.url, stream)
      const bodies = upstream.requests.map(({ body }) => body!)
      expect(bodies.length).toBeGreaterThanOrEqual(2)

      const trajectories = new Set<TrajectoryId>()
      const nodes: string[] = []
      let recorder = recorderOver(store)
      for (const [i, body] of bodies.entries()) {
        // Every other request meets a gateway that has just begun.
        if (i % 2 === 1) {
          await recorder.close()
          recorder = recorderOver(store)
        }
        const { content = null, toolCalls = [] } = say(body)
        const calls = toolCalls.map((call) => ({ ...call, arguments: String(call.arguments) }))
        const { messages, tools } = ChatRequest.parse(body)
        const { record, node } = await called(recorder, requestOf(messages, { tools }), { content, calls })
        trajectories.add(record.trajectory)
        nodes.push(node)
        const path = pathIn(await stored(store, record.trajectory), node)
        expect(path.filter(({ message }) => message.role === 'assistant').map(({ id }) => id)).toEqual(nodes)
      }
      await recorder.close()
      expect(trajectories.size).toBe(1)
      const [trajectory] = trajectories
      const { steps, decisions } = await stored(store, trajectory!)
      expect(steps.map(({ action }) => action)).toEqual(nodes)
      expect(decisions).toHaveLength(nodes.length)
    })
  })
})
