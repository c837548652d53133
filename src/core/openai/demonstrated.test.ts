import { expect, it } from 'vitest'
import { demonstrationFrom } from './demonstrated.ts'

const call = (id: string, name: string, given: string) => ({
  id,
  type: 'function',
  function: { name, arguments: given },
})
const recorded = [
  { role: 'system', content: 'You run a warehouse.' },
  { role: 'user', content: 'How many bolts are left?' },
  { role: 'assistant', content: null, tool_calls: [call('call_1', 'stock', '{"item":"bolt"}')] },
  { role: 'tool', tool_call_id: 'call_1', content: 'left 4' },
  { role: 'assistant', content: '4' },
]
const read = [
  { role: 'system', content: 'You run a warehouse.' },
  { role: 'user', content: 'How many bolts are left?' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'call_1', name: 'stock', arguments: { item: 'bolt' } }] },
  { role: 'tool', content: 'left 4', name: 'stock', toolCallId: 'call_1' },
  { role: 'assistant', content: '4' },
]

it('reads what the OpenAI API says, with what a recorder keeps beside the messages, or the messages alone', () => {
  expect(demonstrationFrom({ messages: recorded, model: 'gpt', tools: [] })).toEqual({ messages: read })
  expect(demonstrationFrom(recorded)).toEqual({ messages: read })
})

it('reads what we say, mistakes too', () => {
  expect(demonstrationFrom({ messages: read, mistakes: [2] })).toEqual({ messages: read, mistakes: [2] })
})

it('reads a turn that fine-tuning gives no weight as a mistake', () => {
  const weighed = recorded.map((message, i) => (i === 2 ? { ...message, weight: 0 } : message))
  expect(demonstrationFrom(weighed).mistakes).toEqual([2])
  expect(demonstrationFrom(weighed.map((one) => ({ ...one, weight: 1 }))).mistakes).toBeUndefined()
})

it.each([
  ['nothing that was said', { messages: 3 }, /^line 7: messages: /],
  ['no answer', { messages: recorded.slice(0, 1) }, /^line 7: messages: .*2/],
  [
    'a result of no call',
    { messages: [recorded[1], { role: 'assistant', tool_calls: [] }, { role: 'tool', content: 'x' }] },
    /messages\.2\.tool_call_id: it is missing/,
  ],
  [
    'the form before tools',
    {
      messages: [recorded[1], { role: 'assistant', content: null, function_call: { name: 'stock', arguments: '{}' } }],
    },
    /messages\.1\.function_call: .*`tool_calls`/,
  ],
  ['a key that we do not know', { messages: read, mistaken: [2] }, /unknown key "mistaken": did you mean "mistakes"\?/],
  [
    'both at once',
    { messages: [...read.slice(0, 3), recorded[3], ...read.slice(4)] },
    /tool_call_id": did you mean "toolCallId"\?/,
  ],
])('refuses %s', (_, value, message) => {
  expect(() => demonstrationFrom(value, 'line 7')).toThrow(message)
  expect(() => demonstrationFrom(value)).toThrow(expect.objectContaining({ code: 'input/invalid' }))
})
