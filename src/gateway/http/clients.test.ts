import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { HumanMessage } from '@langchain/core/messages'
import { tool as langchainTool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { Agent, OpenAIProvider, Runner, tool as agentTool } from '@openai/agents'
import { generateText, stepCountIs, streamText, tool as aiTool } from 'ai'
import { OpenAI } from 'openai'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { listeningGateway, type ListeningGateway } from '../../../test/support/listening-gateway.ts'

let gateway: ListeningGateway
afterEach(() => gateway.close())

const question = '!weather {"city": "Rome"}\n!weather {"city": "Oslo"}'
const City = z.object({ city: z.string() })
const answer = ({ city }: z.infer<typeof City>) => `Sunny in ${city}.`

const finishes = () => gateway.recorder.calls.map(({ end }) => end?.answer?.choices[0]?.finish)

describe('the AI SDK', () => {
  const asked = () => ({
    model: createOpenAICompatible({ name: 'ratchet', baseURL: `${gateway.url}/s/ai/v1`, includeUsage: true })(
      'scripted',
    ),
    prompt: question,
    tools: { weather: aiTool({ description: 'Tells the weather.', inputSchema: City, execute: answer }) },
    stopWhen: stepCountIs(4),
    maxRetries: 0,
  })

  it('generates text through tools', async () => {
    gateway = await listeningGateway()
    const { text, steps } = await generateText(asked())
    expect(text).toBe('The tool said: Sunny in Oslo.')
    expect(steps).toHaveLength(2)
    expect(finishes()).toEqual(['tool_calls', 'stop'])
  })

  it('streams text through tools', async () => {
    gateway = await listeningGateway()
    const result = streamText(asked())
    let text = ''
    for await (const piece of result.textStream) text += piece
    expect(text).toBe('The tool said: Sunny in Oslo.')
    expect((await result.totalUsage).outputTokens).toBeGreaterThan(0)
    expect(finishes()).toEqual(['tool_calls', 'stop'])
  })

  it('is told when a stream breaks', async () => {
    gateway = await listeningGateway()
    gateway.upstream.fail('cut')
    const errors: unknown[] = []
    const result = streamText({ ...asked(), onError: ({ error }) => void errors.push(error) })
    await result.consumeStream()
    expect(errors).toHaveLength(1)
  })
})

describe('LangChain', () => {
  const model = () =>
    new ChatOpenAI({
      model: 'scripted',
      apiKey: 'none',
      maxRetries: 0,
      configuration: { baseURL: `${gateway.url}/s/lc/v1` },
    }).bindTools([langchainTool(answer, { name: 'weather', description: 'Tells the weather.', schema: City })])

  it('calls tools, and streams', async () => {
    gateway = await listeningGateway()
    const said = await model().invoke([new HumanMessage(question)])
    expect(said.tool_calls?.map(({ args }) => args as object)).toEqual([{ city: 'Rome' }, { city: 'Oslo' }])
    let text = ''
    for await (const chunk of await model().stream([new HumanMessage('hello')])) text += chunk.text
    expect(text).toBe('You said: hello')
    expect(finishes()).toEqual(['tool_calls', 'stop'])
  })
})

describe("OpenAI's agents", () => {
  it.each([
    ['the Responses API', true, false],
    ['the Responses API, streamed', true, true],
    ['chat', false, false],
    ['chat, streamed', false, true],
  ])('run by %s', async (_, useResponses, stream) => {
    gateway = await listeningGateway()
    const openAIClient = new OpenAI({ baseURL: `${gateway.url}/s/agents/v1`, apiKey: 'none', maxRetries: 0 })
    const runner = new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: openAIClient as never, useResponses }),
      tracingDisabled: true,
    })
    const agent = new Agent({
      name: 'weatherman',
      model: 'scripted',
      instructions: 'Tell the weather.',
      tools: [agentTool({ name: 'weather', description: 'Tells the weather.', parameters: City, execute: answer })],
    })
    const result = stream ? await runner.run(agent, question, { stream }) : await runner.run(agent, question)
    if ('completed' in result) await result.completed
    expect(result.finalOutput).toBe('The tool said: Sunny in Oslo.')
    expect(finishes()).toEqual(['tool_calls', 'stop'])
  })
})
