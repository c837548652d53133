// LangChain.js with a tool. Only `baseURL` knows Ratchet.
//
//   npx ratchet serve                    (another terminal)
//   node examples/langchain.mjs
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'

const weather = tool(async ({ city }) => JSON.stringify({ city, celsius: 7 }), {
  name: 'weather',
  description: 'Says how warm it is in a city.',
  schema: z.object({ city: z.string() }),
})

const model = new ChatOpenAI({
  model: process.env.MODEL ?? 'minimind2-small',
  apiKey: process.env.RATCHET_API_KEY ?? 'any',
  maxTokens: 120,
  configuration: {
    baseURL: `${process.env.RATCHET_URL ?? 'http://127.0.0.1:8787'}/v1`,
    defaultHeaders: { 'ratchet-agent': 'weatherman' },
  },
}).bindTools([weather])

const messages = [new HumanMessage(process.argv[2] ?? 'How warm is it in Oslo?')]
for (let turn = 0; turn < 4; turn++) {
  const answer = await model.invoke(messages)
  messages.push(answer)
  if (!answer.tool_calls?.length) break
  for (const call of answer.tool_calls) {
    messages.push(new ToolMessage({ tool_call_id: call.id, content: await weather.invoke(call.args) }))
  }
}
console.log(messages.at(-1).text)
