import { expect, it } from 'vitest'
import { messagesFrom } from './input-messages.ts'
import { ResponsesRequest } from './responses-request.ts'

it('a turn of very many calls is read in the time of its length', () => {
  const input = Array.from({ length: 4_096 }, (_, i) => ({
    type: 'function_call',
    call_id: `c${i}`,
    name: 'f',
    arguments: '{}',
  }))
  const request = ResponsesRequest.parse({ model: 'm', input })
  const messages = messagesFrom(request)
  expect(messages).toHaveLength(1)
  expect(messages[0]).toMatchObject({ role: 'assistant', content: null })
  const [turn] = messages
  expect(turn?.role === 'assistant' ? turn.tool_calls?.length : null).toBe(4_096)
})
