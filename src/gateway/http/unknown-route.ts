import type { OpenAPIHono } from '@hono/zod-openapi'
import { TrieRouter } from 'hono/router/trie-router'
import { nearestName } from '../../core/index.ts'
import type { GatewayError } from '../errors.ts'
import type { HttpEnv } from './both-paths.ts'
import { refusal } from './refusals.ts'

/** What is at no route: a path that nobody serves, or one that is served by other methods. */
export type UnknownRoute = (
  method: string,
  path: string,
) => { readonly error: GatewayError; readonly allow: string | null }

/** Longer paths are no slips of the pen. */
const longest = 128

/** Reads the routes that `app` has now. */
export function unknownRoutes(app: Pick<OpenAPIHono<HttpEnv>, 'routes'>): UnknownRoute {
  const router = new TrieRouter<string>()
  const paths = new Set<string>()
  for (const { method, path } of app.routes) {
    if (method === 'ALL') continue
    router.add('ALL', path, method)
    if (!path.includes(':')) paths.add(path)
  }
  return (method, path) => {
    const methods = [...new Set(router.match('ALL', path)[0].map(([allowed]) => allowed))].sort()
    return methods.length > 0
      ? { error: wrongMethod(method, path, methods), allow: methods.join(', ') }
      : { error: noRoute(method, path, [...paths]), allow: null }
  }
}

const wrongMethod = (method: string, path: string, allowed: readonly string[]) =>
  refusal('wrong-method', `${method} is no method of ${path}.`, `Send ${allowed.join(' or ')}.`, { status: 405 })

function noRoute(method: string, path: string, known: readonly string[]): GatewayError {
  const short = path.slice(0, longest)
  const meant = known.find((route) => route === `/v1${short}`) ?? nearestName(short, known)
  return refusal(
    'no-such-route',
    `There is nothing at ${method} ${short}.`,
    meant === null
      ? 'GET /openapi.json lists what there is.'
      : `Did you mean ${meant}? GET /openapi.json lists what there is.`,
    { status: 404 },
  )
}
