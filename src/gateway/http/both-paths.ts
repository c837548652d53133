import type { HttpBindings } from '@hono/node-server'
import { createRoute, type OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import type { Context, Env } from 'hono'
import { z } from 'zod'
import { refusal } from './refusals.ts'

/** Under Node's server, the connection that a request came by. */
export interface HttpEnv extends Env {
  Bindings: Partial<HttpBindings>
}

/** The headers by which a client says what its body does not. */
const headers = z.object({
  'ratchet-session': z.string().optional().meta({
    description: 'The episode that the call belongs to, by a name of yours. The path or the key may name it.',
  }),
  'ratchet-agent': z.string().optional().meta({ description: 'The agent that calls.' }),
  'ratchet-subject': z
    .string()
    .optional()
    .meta({ description: "The person that it is about: what erasing goes by. Default: the body's `user`." }),
  'ratchet-train': z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: '"false" forbids learning from the call, and from its whole session.' }),
  'idempotency-key': z
    .string()
    .optional()
    .meta({ description: 'A request with the same key and body gets the same answer.' }),
})

const inSession = z.object({ session: z.string().meta({ description: 'As the header `ratchet-session`.' }) })

/** The connection's end that answers a request; `null` where no server of Node's brought it. */
export function outgoingOf({
  env,
}: {
  readonly env: Partial<HttpBindings> | undefined
}): HttpBindings['outgoing'] | null {
  return env?.outgoing ?? null
}

/**
 * Adds a route under `/v1` and under `/s/{session}/v1`, for clients that can set nothing but a base URL. It is only
 * documented by its schemas: the handler checks its body itself, once.
 * @param pattern the path as Hono matches it, where that is more than the documented one.
 */
export function addAtBothPaths(
  app: OpenAPIHono<HttpEnv>,
  { path, method, ...route }: Omit<RouteConfig, 'path' | 'method'> & { path: string; method: 'get' | 'post' },
  handler: (c: Context<HttpEnv>, session: string | null) => Promise<Response>,
  pattern = path,
): void {
  const request = { ...route.request, headers }
  app.openAPIRegistry.registerPath(createRoute({ ...route, method, path: `/v1${path}`, request }))
  const params = route.request?.params instanceof z.ZodObject ? inSession.extend(route.request.params.shape) : inSession
  app.openAPIRegistry.registerPath(
    createRoute({ ...route, method, path: `/s/{session}/v1${path}`, request: { ...request, params } }),
  )
  app.on(method.toUpperCase(), `/v1${pattern}`, (c) => handler(c, null))
  app.on(method.toUpperCase(), `/s/:session/v1${pattern}`, (c) => handler(c, sessionIn(c.req.url)))
}

/**
 * The session that the path names. Hono leaves as it is what is encoded wrongly: that would be another name than the
 * client meant.
 */
function sessionIn(url: string): string {
  const [, encoded = ''] = /^\w+:\/\/[^/]*\/s\/([^/?#]*)/.exec(url) ?? []
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw refusal('bad-name', 'The session in the path is not encoded as UTF-8.', 'Encode it with encodeURIComponent.')
  }
}
