import type { OpenAPIHono } from '@hono/zod-openapi'
import { ChatCompletion, ChatRequest, turns } from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { assertArgumentsWithin } from '../http/body-bounds.ts'
import { addAtBothPaths, type HttpEnv, outgoingOf } from '../http/both-paths.ts'
import { parseRequest } from '../http/parse-request.ts'
import { receive, type Receiving } from '../http/receive.ts'
import { requestContext, userIn } from '../http/request-context.ts'
import { answer, type Serving } from './answer.ts'
import { chatWire } from './chat-wire.ts'

/** What the routes that ask a model need. */
export interface AskingModels extends Serving, Receiving {
  /** False: nothing that is recorded may be learned from. */
  readonly train: boolean
}

/** `POST /v1/chat/completions`. */
export function addChatRoute(app: OpenAPIHono<HttpEnv>, options: AskingModels): void {
  const route = {
    method: 'post' as const,
    path: '/chat/completions',
    summary: 'Ask a model, and have the answer recorded',
    description: "OpenAI's chat completions. Fields that are not listed go on to the upstream as they are.",
    tags: ['models'],
    request: { body: { required: true, content: { 'application/json': { schema: ChatRequest } } } },
    responses: {
      200: answers(
        'The answer; with `stream`, its chunks as server-sent events, of which the last follows the commit.',
        ChatCompletion,
      ),
      400: refuses('The request is wrong, or the upstream says so.'),
      409: refuses('The same request is being answered.'),
      413: refuses('The body is too large.'),
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
      const request = parseRequest(ChatRequest, value)
      assertArgumentsWithin(request)
      const { train } = options
      const context = requestContext({
        headers,
        session,
        user: userIn(request),
        caller,
        train,
        signal: call.signal,
        weight,
      })
      const wire = (id: string) => chatWire(request, id)
      return answer(options, { request, context, headers, call, outgoing: outgoingOf(c), room, wire })
    }),
  )
}
