import { turns } from '../../core/index.ts'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { answers, refuses } from '../answers.ts'
import { answer } from '../chat/answer.ts'
import type { AskingModels } from '../chat/chat-route.ts'
import { assertArgumentsWithin } from '../http/body-bounds.ts'
import { addAtBothPaths, type HttpEnv, outgoingOf } from '../http/both-paths.ts'
import { parseRequest } from '../http/parse-request.ts'
import { receive } from '../http/receive.ts'
import { requestContext, userIn } from '../http/request-context.ts'
import { chatRequestFrom } from './chat-request-from.ts'
import { DocumentedRequest, ResponsesRequest } from './responses-request.ts'
import { responsesWire } from './responses-wire.ts'

const ResponseObject = z.looseObject({ id: z.string(), object: z.literal('response') })

/** `POST /v1/responses`, for clients that send the whole conversation each time: nothing is looked up by its id. */
export function addResponsesRoute(app: OpenAPIHono<HttpEnv>, options: AskingModels): void {
  const route = {
    method: 'post' as const,
    path: '/responses',
    summary: 'Ask a model by the Responses API, and have the answer recorded',
    description: 'Stateless: the conversation is sent in full. Asked of the upstream as a chat completion.',
    tags: ['models'],
    request: { body: { required: true, content: { 'application/json': { schema: DocumentedRequest } } } },
    responses: {
      200: answers(
        'The response; with `stream`, its events, of which those that end it follow the commit.',
        ResponseObject,
      ),
      400: refuses('The request is wrong, or asks for what only a server with a memory can do.'),
      409: refuses('The same request is being answered.'),
      429: refuses('The key has used what it may, or the upstream is busy.'),
      502: refuses('The upstream failed.'),
      503: refuses('The answer could not be recorded.'),
    },
  }
  addAtBothPaths(app, route, (c, session) =>
    receive(options, c, async ({ caller, call, room, json }) => {
      const { headers } = c.req.raw
      const { value, weight } = await json()
      await turns.next(weight)
      const asked = parseRequest(ResponsesRequest, value)
      await turns.next(weight)
      const request = chatRequestFrom(asked)
      assertArgumentsWithin(request)
      const { train } = options
      const context = requestContext({
        headers,
        session,
        user: userIn(asked),
        caller,
        train,
        signal: call.signal,
        weight,
      })
      const wire = (id: string) => responsesWire(asked, id)
      return answer(options, { request, context, headers, call, outgoing: outgoingOf(c), room, wire })
    }),
  )
}
