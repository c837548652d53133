import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import { Json } from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { addAtBothPaths, type HttpEnv } from '../http/both-paths.ts'
import { parseRequest } from '../http/parse-request.ts'
import { problemOf } from '../http/problem.ts'
import { receive } from '../http/receive.ts'
import type { AskingModels } from './chat-route.ts'

const EmbeddingsRequest = z.looseObject({ model: z.string().min(1).max(256) })

/** `POST /v1/embeddings`: passed on and back as it is, and not recorded. */
export function addEmbeddingsRoute(app: OpenAPIHono<HttpEnv>, options: AskingModels): void {
  const route = {
    method: 'post' as const,
    path: '/embeddings',
    summary: 'Embeddings from the upstream; nothing is recorded',
    tags: ['models'],
    request: { body: { required: true, content: { 'application/json': { schema: EmbeddingsRequest } } } },
    responses: { 200: answers("The upstream's answer.", Json), 502: refuses('The upstream failed.') },
  }
  addAtBothPaths(app, route, (c) =>
    receive(options, c, async ({ caller, call, room, json }) => {
      const body = parseRequest(EmbeddingsRequest, (await json()).value)
      const told = options.telemetry.call({
        operation: 'embeddings',
        model: body.model,
        stream: false,
        caller,
        trajectory: null,
        headers: c.req.raw.headers,
      })
      const unrecorded = { answer: null, committed: null }
      try {
        const { authorization } = caller
        // What was parsed as JSON is JSON.
        const embeddings = await options.upstream.embeddings({
          body: body as Json,
          authorization,
          signal: call.signal,
          room,
        })
        told.end({ ...unrecorded, status: 200, failure: null })
        return Response.json(embeddings)
      } catch (error) {
        const { status, code, message } = problemOf(error)
        told.end({ ...unrecorded, status, failure: { code, message } })
        throw error
      }
    }),
  )
}
