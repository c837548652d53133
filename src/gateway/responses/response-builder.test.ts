import { expect, it } from 'vitest'
import { ResponseBuilder } from './response-builder.ts'
import type { ResponsesRequest } from './responses-request.ts'

const request = { model: 'm', input: 'x' } as unknown as ResponsesRequest

it('takes more log-probabilities in one chunk than a call takes arguments', () => {
  const said: string[] = []
  const builder = new ResponseBuilder(request, 'resp_1', true, (type) => said.push(type))
  const content = Array.from({ length: 200_000 }, () => ({ token: 'a', logprob: -1 }))
  const choice = { index: 0, delta: { content: 'a' }, logprobs: { content }, finish_reason: 'stop' }
  builder.take({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] })
  const response = builder.complete() as { output: { content: { logprobs: unknown[] }[] }[] }
  expect(said.at(-1)).toBe('response.completed')
  expect(response.output[0]?.content[0]?.logprobs).toHaveLength(131_072)
})
