import { expect, it } from 'vitest'
import { demonstrationRows, demonstrationsFromJsonl } from './demonstrations-jsonl.ts'

const asked = { role: 'user', content: 'How many bolts?' }
const ours = { messages: [asked, { role: 'assistant', content: '4' }] }
const openAI = {
  model: 'gpt',
  messages: [
    asked,
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'stock', arguments: '{"item":"bolt"}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'left 4' },
  ],
}
const text = (...lines: unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('\n')

it('reads lines in our words and in those of the OpenAI API', () => {
  const [first, second] = demonstrationsFromJsonl({ text: text(ours, openAI) })
  expect(first).toEqual(ours)
  expect(second?.messages[1]).toMatchObject({
    content: '',
    toolCalls: [{ name: 'stock', arguments: { item: 'bolt' } }],
  })
  expect(demonstrationRows({ text: text(ours, openAI) }).map(({ line }) => line)).toEqual([1, 3])
})

it('names the line that is none, and what a line is', () => {
  expect(() => demonstrationsFromJsonl({ text: text(ours, { messages: [asked] }) })).toThrow(
    expect.objectContaining({
      code: 'environment/malformed-corpus',
      message: expect.stringMatching(/^Line 3, as a demonstration: messages/),
      hint: expect.stringContaining('OpenAI'),
    }),
  )
})
