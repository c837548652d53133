// An agent on the OpenAI SDK: nothing in it knows Ratchet but the base URL. Then a thumbs-down, for its last answer.
//
//   npx ratchet serve                    (another terminal)
//   node examples/openai-sdk.mjs "How is order 42?"
import OpenAI from 'openai'

const base = process.env.RATCHET_URL ?? 'http://127.0.0.1:8787'
const model = process.env.MODEL ?? 'minimind2-small'
const question = process.argv[2] ?? 'How is order 42?'

// Without the session in the path the conversation is recognised by its messages.
const client = new OpenAI({ baseURL: `${base}/s/order-42/v1`, apiKey: process.env.RATCHET_API_KEY ?? 'any' })

const tools = [
  {
    type: 'function',
    function: {
      name: 'find_order',
      description: 'Says where an order is.',
      parameters: { type: 'object', properties: { order: { type: 'integer' } }, required: ['order'] },
    },
  },
]
const found = { find_order: ({ order }) => ({ order, at: 'Oslo' }) }

const messages = [
  { role: 'system', content: 'You help customers with their orders. Be brief.' },
  { role: 'user', content: question },
]
let last
for (let turn = 0; turn < 4; turn++) {
  const stream = client.chat.completions.stream({ model, messages, tools, max_tokens: 120 })
  stream.on('content', (text) => process.stdout.write(text))
  last = await stream.finalChatCompletion()
  const { message } = last.choices[0]
  messages.push(message)
  if (!message.tool_calls?.length) break
  for (const call of message.tool_calls) {
    const result = found[call.function.name]?.(JSON.parse(call.function.arguments)) ?? { error: 'no such tool' }
    messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  }
}

// Feedback finds its episode by the id of an answer: now, in an hour, or in a month.
const response = await fetch(`${base}/ratchet/signals`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.RATCHET_API_KEY ?? 'any'}` },
  body: JSON.stringify({ response: last.id, name: 'thumbs', value: false }),
})
console.log(`\nthumbs down: ${response.status}`)
if (!response.ok) throw new Error(await response.text())
