import { expect, it } from 'vitest'
import { assistantMessageOf } from './messages.ts'

const calling = (text: string) =>
  assistantMessageOf({ tool_calls: [{ id: 'c1', type: 'function', function: { name: 'search', arguments: text } }] })

it('reads the arguments of calls', () => {
  expect(calling('{"q": [1]}').toolCalls).toEqual([{ id: 'c1', name: 'search', arguments: { q: [1] } }])
  expect(calling(' ').toolCalls).toEqual([{ id: 'c1', name: 'search', arguments: {} }])
})

it.each([
  ['no JSON', '{"q": ', /not JSON/],
  ['no object', '[1]', /not a JSON object/],
  ['an attack by depth', '['.repeat(8_000_000), /nest too deeply/],
])('keeps as malformed what is %s', (_, text, problem) => {
  const message = calling(text)
  expect(message.toolCalls).toBeUndefined()
  expect(message.malformedCalls).toEqual([
    { text: `search(${text})`, problem: expect.stringMatching(problem) as string },
  ])
})
