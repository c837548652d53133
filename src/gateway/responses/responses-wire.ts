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
  let text = ''
  let sequence = 0
  const emit = (type: string, fields: object) => {
    text += `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...fields })}\n\n`
    sequence += 1
  }
  const builder = new ResponseBuilder(request, id, logprobs, emit)
  const told = (tell: () => void): string => {
    text = ''
    tell()
    return text
  }
  return {
    open: (first) => told(() => builder.open(first)),
    chunk: (chunk) => told(() => builder.take(chunk)),
    done: () => told(() => void builder.complete()),
    failed: (problem) =>
      told(() => {
        builder.fail(problem.message)
        emit('error', errorEvent(problem))
      }),
  }
}

/** SDKs differ in where they look for what went wrong: in the event, or in its `error`. */
function errorEvent(problem: Problem) {
  const { code, message } = problem
  return { code, message, param: null, error: errorIn(problem) }
}
