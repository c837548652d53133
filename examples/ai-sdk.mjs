// The AI SDK's tool loop, then a streamed answer. Only `baseURL` knows Ratchet.
//
//   npx ratchet serve                    (another terminal)
//   node examples/ai-sdk.mjs
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'

const provider = createOpenAICompatible({
  name: 'ratchet',
  baseURL: `${process.env.RATCHET_URL ?? 'http://127.0.0.1:8787'}/v1`,
  apiKey: process.env.RATCHET_API_KEY ?? 'any',
})
const model = provider(process.env.MODEL ?? 'minimind2-small')

const answer = await generateText({
  model,
  prompt: process.argv[2] ?? 'How warm is it in Oslo?',
  tools: {
    weather: tool({
      description: 'Says how warm it is in a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => ({ city, celsius: 7 }),
    }),
  },
  stopWhen: stepCountIs(4),
  maxOutputTokens: 120,
})
console.log(answer.text)

// A conversation goes on: its history is how the gateway knows it again.
const { textStream } = streamText({
  model,
  messages: [
    { role: 'user', content: process.argv[2] ?? 'How warm is it in Oslo?' },
    ...answer.response.messages,
    { role: 'user', content: 'Thanks!' },
  ],
  maxOutputTokens: 60,
})
for await (const text of textStream) process.stdout.write(text)
console.log()
