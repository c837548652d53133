import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { z } from 'zod'
import type { ServedModel } from '../../core/index.ts'
import { answers, refuses } from '../answers.ts'
import { addAtBothPaths, type HttpEnv } from '../http/both-paths.ts'
import { receive } from '../http/receive.ts'
import { refusal } from '../http/refusals.ts'
import type { AskingModels } from './chat-route.ts'

const Model = z.object({
  id: z.string(),
  object: z.literal('model'),
  /** Seconds since the epoch. */
  created: z.number(),
  owned_by: z.string(),
})

const ModelList = z.object({ object: z.literal('list'), data: z.array(Model) })

const onWire = ({ id, created, ownedBy }: ServedModel): z.infer<typeof Model> => ({
  id,
  object: 'model',
  created,
  owned_by: ownedBy,
})

/** `GET /v1/models` and `GET /v1/models/{id}`. */
export function addModelRoutes(app: OpenAPIHono<HttpEnv>, options: AskingModels): void {
  const models = (c: Context<HttpEnv>, tell: (models: readonly ServedModel[]) => object) =>
    receive(options, c, async ({ caller, call, room }) => {
      const { authorization } = caller
      return Response.json(tell(await options.upstream.models({ authorization, signal: call.signal, room })))
    })

  const list = {
    method: 'get' as const,
    path: '/models',
    summary: 'The models that can be asked for',
    tags: ['models'],
    responses: { 200: answers('The models.', ModelList), 502: refuses('The upstream failed.') },
  }
  addAtBothPaths(app, list, (c) =>
    models(c, (served) => ({ object: 'list', data: served.map(onWire) }) satisfies z.infer<typeof ModelList>),
  )

  const one = {
    method: 'get' as const,
    path: '/models/{id}',
    summary: 'One model',
    tags: ['models'],
    request: { params: z.object({ id: z.string() }) },
    responses: { 200: answers('The model.', Model), 404: refuses('There is no such model.') },
  }
  const handler = (c: Context<HttpEnv>) => {
    const id = c.req.param('id') ?? ''
    return models(c, (served) => {
      const model = served.find((model) => model.id === id)
      if (model) return onWire(model)
      throw refusal('no-such-model', `There is no model "${id.slice(0, 256)}".`, 'GET /v1/models lists them.', {
        status: 404,
        param: 'model',
      })
    })
  }
  // Names like "Qwen/Qwen3-4B" have slashes.
  addAtBothPaths(app, one, handler, '/models/:id{.+}')
}
