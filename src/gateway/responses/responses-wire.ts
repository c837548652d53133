import type { ChatCompletion } from '../../core/index.ts'
import { chunkOf } from '../chat/chunks.ts'
import type { Wire, WireStream } from '../chat/wire.ts'
import { errorIn, type Problem } from '../http/problem.ts'
import { wantsLogprobs } from './chat-request-from.ts'
import { ResponseBuilder } from './response-builder.ts'
import type { ResponsesRequest } from './responses-request.ts'

/** The Responses API. `chatId` is the record's id as chat clients would see it. */
export function responsesWire(request: ResponsesRequest, chatId: string): Wire {
  const id = chatId.replace(/^chatcmpl-/, 'resp_')
  const logprobs = wantsLogprobs(request)
  return {
    id,
    whole(completion: ChatCompletion) {
      const builder = new ResponseBuilder(request, id, logprobs, () => {})
      builder.take(chunkOf(completion))
      return JSON.stringify(builder.complete())
    },
    stream: () => eventStream(request, id, logprobs),
  }
}

function eventStream(request: ResponsesRequest, id: string, logprobs: boolean): WireStream {
  let take: (event: Event) => void = () => {}
  let sequence = 0
  const emit = (type: string, fields: object) => {
    take({ type, sequence_number: sequence, ...fields })
    sequence += 1
  }
  const builder = new ResponseBuilder(request, id, logprobs, emit)
  // An event tells what is known when it is emitted: the builder goes on with the same objects.
  const told = (tell: () => void): string => {
    let text = ''
    take = (event) => (text += textOf(event))
    tell()
    return text
  }
  return {
    open: (first) => told(() => builder.open(first)),
    chunk: (chunk) => told(() => builder.take(chunk)),
    done: () => {
      const events: Event[] = []
      take = (event) => events.push(event)
      builder.complete()
      return textsOf(events)
    },
    failed: (problem) =>
      told(() => {
        builder.fail(problem.message)
        emit('error', errorEvent(problem))
      }),
  }
}

interface Event {
  readonly type: string
  readonly sequence_number: number
}

const textOf = (event: Event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

function* textsOf(events: readonly Event[]): Generator<string> {
  for (const event of events) yield textOf(event)
}

/** SDKs differ in where they look for what went wrong: in the event, or in its `error`. */
function errorEvent(problem: Problem) {
  const { code, message } = problem
  return { code, message, param: null, error: errorIn(problem) }
}
