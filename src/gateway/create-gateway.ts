import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import { type ChatUpstream, type Clock, systemClock } from '../core/index.ts'
import { addChatRoute, type AskingModels } from './chat/chat-route.ts'
import { addEmbeddingsRoute } from './chat/embeddings-route.ts'
import { addModelRoutes } from './chat/model-routes.ts'
import type { ServeConfig } from './config.ts'
import { refuseInvalid } from './errors.ts'
import { BodySpace } from './http/body-room.ts'
import type { HttpEnv } from './http/both-paths.ts'
import { Calls } from './http/calls.ts'
import { problemOf, problemResponse } from './http/problem.ts'
import { unknownRoutes } from './http/unknown-route.ts'
import { type Log, silent } from './log.ts'
import type { Doorkeeper, EpisodeRecorder, Telemetry } from './ports.ts'
import { addResponsesRoute } from './responses/responses-route.ts'

/** Routes of an `OpenAPIHono`, whatever its handlers find in their contexts. */
export type RouteApp = Pick<OpenAPIHono, 'routes' | 'openAPIRegistry'>

/** What a gateway is made of. */
export interface GatewayOptions {
  readonly config: Pick<ServeConfig, 'limits' | 'train'>
  readonly upstream: ChatUpstream
  readonly recorder: EpisodeRecorder
  readonly doorkeeper: Doorkeeper
  readonly telemetry: Telemetry
  /** Further routes, served as they are and described in the same document: signals, keys, metrics. */
  readonly routes?: readonly RouteApp[]
  /** Runs around every route, its own and unknown ones: counts requests. */
  readonly around?: MiddlewareHandler
  /** Default: says nothing. */
  readonly logger?: Log
  /** What all request bodies together may take. Default: {@link bodySpace}. */
  readonly bodies?: BodySpace
  readonly clock?: Clock
  /** How long the reader of a stream may take nothing before it is given up. Default: a minute. */
  readonly patienceMs?: number
}

/** The gateway as a function from requests to responses; {@link serve} puts it on a port. */
export interface Gateway {
  /** @param env under Node's server, the connection. */
  fetch(request: Request, env?: HttpEnv['Bindings']): Response | Promise<Response>
  /** The OpenAPI 3.1 document of every route. */
  openapi(): object
  /**
   * Refuses new calls, lets those under way end for at most `graceMs`, then stops them: each is recorded as far as it
   * came. Neither the recorder nor the upstream are closed.
   */
  close(graceMs: number): Promise<void>
}

/** Bodies of the largest size that may be held at once. */
const largestBodies = 16

/** Room for request bodies, to be shared by everything that reads them. */
export const bodySpace = ({ limits }: Pick<ServeConfig, 'limits'>): BodySpace =>
  new BodySpace(limits.bodyBytes * largestBodies)

/**
 * Builds the gateway: the OpenAI API in front of `upstream`, with every call recorded.
 */
export function createGateway(options: GatewayOptions): Gateway {
  const { config, upstream, recorder, doorkeeper, telemetry, routes = [], logger: log = silent } = options
  const { bodies = bodySpace(config), clock = systemClock, patienceMs = 60_000 } = options
  const calls = new Calls()
  const asking: AskingModels = {
    upstream,
    recorder,
    telemetry,
    log,
    clock,
    patienceMs,
    doorkeeper,
    calls,
    bodies,
    bodyBytes: config.limits.bodyBytes,
    train: config.train,
  }
  const app = new OpenAPIHono<HttpEnv>({ defaultHook: refuseInvalid })
  if (options.around) app.use(options.around)
  addChatRoute(app, asking)
  addResponsesRoute(app, asking)
  addModelRoutes(app, asking)
  addEmbeddingsRoute(app, asking)
  for (const guest of routes) app.route('/', guest as OpenAPIHono)
  app.openAPIRegistry.registerComponent('securitySchemes', 'key', {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of the gateway, `rk_…`. Where it has none, whatever the upstream wants.',
  })
  const document = () =>
    app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Ratchet gateway', version: '1' },
      security: [{ key: [] }],
    })
  let text: string | null = null
  app.get('/openapi.json', () => {
    text ??= JSON.stringify(document())
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  })

  const unknown = unknownRoutes(app)
  app.notFound((c) => {
    const { error, allow } = unknown(c.req.method, c.req.path)
    return problemResponse(problemOf(error), allow === null ? {} : { allow })
  })
  app.onError((error, c) => {
    const problem = problemOf(error)
    // The route's pattern, never the path: that is the client's, and may name people.
    if (problem.status === 500) log.error({ err: error, route: routePath(c, -1) }, 'a request failed unexpectedly')
    return problemResponse(problem)
  })

  return {
    fetch: (request, env) => app.fetch(request, env ?? {}),
    openapi: document,
    async close(graceMs) {
      calls.close()
      const idle = calls.idle()
      const timer = setTimeout(() => calls.stopAll(), graceMs)
      await idle
      clearTimeout(timer)
    },
  }
}
