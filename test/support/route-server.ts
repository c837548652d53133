import { serve } from '@hono/node-server'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AddressInfo } from 'node:net'
import { problemOf, problemResponse } from '../../src/gateway/http/problem.ts'

/** A real HTTP server over a gateway's route apps, as the gateway itself mounts them. */
export async function serveRoutes(...apps: readonly OpenAPIHono<never>[]) {
  const app = new OpenAPIHono()
  for (const routes of apps) app.route('/', routes)
  app.onError((error) => problemResponse(problemOf(error)))
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const listening = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () => resolve(listening))
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    app,
    url,
    /** Sends a request and reads the JSON that comes back. */
    async call(method: string, path: string, { token, body, headers }: CallOptions = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: parsed(text) }
    },
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

interface CallOptions {
  readonly token?: string
  /** JSON to be, or the text of a body as it is. */
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

// oxlint-disable-next-line typescript/no-explicit-any
function parsed(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
