import { expect, it } from 'vitest'
import type { ChatChunk } from '../../core/index.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { responsesWire } from './responses-wire.ts'

const request = {
  model: 'm',
  input: 'x',
  include: ['message.output_text.logprobs'],
} as unknown as ResponsesRequest

function chunk(content: string, finish_reason: string | null = null): ChatChunk {
  const logprobs = { content: [{ token: content, logprob: -1 }] }
  const choice = { index: 0, delta: { content }, logprobs, finish_reason }
  return { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice] }
}

interface Told {
  readonly type: string
  readonly logprobs?: readonly { readonly token: string }[]
  readonly part?: { readonly text: string; readonly logprobs: readonly { readonly token: string }[] }
}

const eventsIn = (text: string): readonly Told[] =>
  text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []))

it('tells each log-probability with its words, and no part that begins has any yet', () => {
  const stream = responsesWire(request, 'chatcmpl-1').stream()
  stream.open(null)
  const first = eventsIn(stream.chunk(chunk('Hi')))
  const second = eventsIn(stream.chunk(chunk(' you', 'stop')))
  const last = eventsIn([...stream.done()].join(''))
  expect(first.find(({ type }) => type === 'response.content_part.added')?.part).toMatchObject({
    text: '',
    logprobs: [],
  })
  const deltas = [...first, ...second].filter(({ type }) => type === 'response.output_text.delta')
  expect(deltas.map(({ logprobs }) => logprobs?.map(({ token }) => token))).toEqual([['Hi'], [' you']])
  const done = last.find(({ type }) => type === 'response.content_part.done')?.part
  expect(done?.logprobs.map(({ token }) => token)).toEqual(['Hi', ' you'])
})
