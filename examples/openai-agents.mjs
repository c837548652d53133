// The OpenAI Agents SDK, which speaks the Responses API. Only the client's base URL knows Ratchet.
//
//   npx ratchet serve                    (another terminal)
//   node examples/openai-agents.mjs
import { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'

setTracingDisabled(true)
setDefaultOpenAIClient(
  new OpenAI({
    baseURL: `${process.env.RATCHET_URL ?? 'http://127.0.0.1:8787'}/v1`,
    apiKey: process.env.RATCHET_API_KEY ?? 'any',
  }),
)

const agent = new Agent({
  name: 'weatherman',
  model: process.env.MODEL ?? 'minimind2-small',
  modelSettings: { maxTokens: 120, store: false },
  instructions: 'You say how warm it is.',
  tools: [
    tool({
      name: 'weather',
      description: 'Says how warm it is in a city.',
      parameters: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ city, celsius: 7 }),
    }),
  ],
})

const { finalOutput } = await run(agent, process.argv[2] ?? 'How warm is it in Oslo?', { maxTurns: 4 })
console.log(finalOutput)
