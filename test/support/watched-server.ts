import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

/**
 * How far a request came. `asked`: the server has not heard it. `taken`: the server has it, and the client has not heard that.
 * `waited`: the client asks for its result. `done`: the result is there, and the client has not heard it.
 */
export const stages = ['asked', 'taken', 'waited', 'done'] as const
export type Stage = (typeof stages)[number]

/** A request that is not one for a result. */
export interface WatchedRequest {
  /** What comes after `/api/v1/`: `optim_step`. */
  readonly path: string
  /** The model that it is for; `null` where it names none. */
  readonly model: string | null
}

/** Told of every request at every stage; where it answers true, the client hears nothing more of it. */
export type Watch = (request: WatchedRequest, stage: Stage) => boolean

/** Stands between a client and a server of the Tinker protocol, and tells how far every request came. */
export async function watchedServer(target: string) {
  let watch: Watch = () => false
  /** The request that a promised result is of. */
  const promised = new Map<string, WatchedRequest>()

  async function pass(method: string, path: string, body: Buffer, headers: Headers, response: ServerResponse) {
    const ends = (request: WatchedRequest, stage: Stage) => {
      const ended = watch(request, stage)
      if (ended) response.destroy()
      return ended
    }
    const asked = namesIn(body)
    const earlier = path === '/api/v1/retrieve_future' ? promised.get(asked.request_id) : undefined
    const request = earlier ?? { path: path.replace('/api/v1/', ''), model: asked.model_id }
    if (ends(request, earlier ? 'waited' : 'asked')) return
    const sent = body.length > 0 ? { body: new Uint8Array(body) } : {}
    const answer = await fetch(`${target}${path}`, { method, headers, ...sent })
    const told = Buffer.from(await answer.arrayBuffer())
    if (answer.status === 200) {
      if (!earlier) promised.set(namesIn(told).request_id, request)
      if (ends(request, earlier ? 'done' : 'taken')) return
    }
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
    response.end(told)
  }

  const server = createServer((incoming, response) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const { method = 'GET', url = '/' } = incoming
      const headers = new Headers({ 'x-api-key': 'tml-local' })
      for (const name of ['content-type', 'accept', 'content-encoding']) {
        const value = incoming.headers[name]
        if (typeof value === 'string') headers.set(name, value)
      }
      pass(method, url, Buffer.concat(parts), headers, response).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** From now on this one is told. */
    watch(by: Watch) {
      watch = by
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const Names = z.looseObject({ request_id: z.string().catch(''), model_id: z.string().nullable().catch(null) })

function namesIn(body: Buffer): z.infer<typeof Names> {
  try {
    return Names.parse(JSON.parse(body.toString('utf8')))
  } catch {
    return Names.parse({})
  }
}
