import type { Caller, Doorkeeper } from '../ports.ts'
import type { Context } from 'hono'
import type { BodyRoom, BodySpace } from './body-room.ts'
import { type JsonBody, readJson } from './body.ts'
import { type HttpEnv, outgoingOf } from './both-paths.ts'
import { clientOf } from './client.ts'
import type { Call, Calls } from './calls.ts'
import { whenTaken } from './taken.ts'

/** What receiving a request takes. */
export interface Receiving {
  readonly doorkeeper: Doorkeeper
  readonly calls: Calls
  readonly bodies: BodySpace
  /** The largest body, where the key does not say less. */
  readonly bodyBytes: number
}

/** A request from somebody who may ask, with a place of their own for as long as its answer lasts. */
export interface Received {
  readonly caller: Caller
  readonly call: Call
  /** What the request and its answer take of the process's memory. */
  readonly room: BodyRoom
  /** @throws GatewayError for a body that is too large or no JSON. */
  readonly json: () => Promise<JsonBody>
}

/**
 * Lets a request to a model in, and answers it with `work`.
 * @throws GatewayError 401, 403, 429; 503 when the gateway is shutting down.
 */
export function receive(
  { doorkeeper, calls, bodies, bodyBytes }: Receiving,
  c: Context<HttpEnv>,
  work: (received: Received) => Promise<Response>,
): Promise<Response> {
  const request = c.req.raw
  return calls.run(clientOf(c), async (call) => {
    const caller = await doorkeeper.identify(request.headers, 'infer')
    const arrived = doorkeeper.arrive(caller)
    call.onEnd(() => arrived.leave())
    // A body takes its time as its sender likes: the place is taken when it has come.
    const bodied = hasBody(request)
    if (!bodied) call.onEnd(arrived.enter())
    const room = bodies.room(caller)
    // A large answer is held until its reader has it.
    call.onEnd(() => whenTaken(outgoingOf(c), room.giveBack))
    const json = async () => {
      const body = await readJson(request, bodyLimit(bodyBytes, caller), room)
      if (bodied) call.onEnd(arrived.enter())
      return body
    }
    return work({ caller, call, room, json })
  })
}

/** Asked of the headers first: under Node's server, to ask for the body itself builds a whole other request. */
function hasBody(request: Request): boolean {
  const { headers, method } = request
  if (method === 'GET' || method === 'HEAD') return false
  return headers.has('content-length') || headers.has('transfer-encoding') || request.body !== null
}

/** How large this caller's bodies may be. */
export function bodyLimit(configured: number, { limits, parent }: Caller): number {
  return Math.min(configured, limits.bodyBytes ?? configured, parent?.limits.bodyBytes ?? configured)
}
