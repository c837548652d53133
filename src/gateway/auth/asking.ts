import type { MiddlewareHandler } from 'hono'
import { type Scope, turns } from '../../core/index.ts'
import type { HttpBindings } from '@hono/node-server'
import type { BodyRoom, BodySpace } from '../http/body-room.ts'
import { readJson } from '../http/body.ts'
import { outgoingOf } from '../http/both-paths.ts'
import { bodyLimit } from '../http/receive.ts'
import { whenTaken } from '../http/taken.ts'
import type { Caller, Doorkeeper } from '../ports.ts'

/** What a route behind {@link asking} finds in its context. */
export interface AskedEnv {
  Bindings: Partial<HttpBindings>
  /** `room` is what the request and its answer take of the process's memory. */
  Variables: { caller: Caller; room: BodyRoom }
}

/** What holds for everybody who asks. */
export interface AskingOptions {
  readonly door: Doorkeeper
  /** The largest body, where the key does not say less. */
  readonly bodyBytes: number
  /** What all bodies together may take. */
  readonly bodies: BodySpace
}

/**
 * Lets in who may: knows the caller, holds them to their limits while the request lasts, and reads the JSON that they
 * post, within bounds. For routes whose answer is whole; a stream keeps its place longer than its handler runs.
 */
export function asking({ door, bodyBytes, bodies }: AskingOptions, needs: Scope): MiddlewareHandler<AskedEnv> {
  return async (c, next) => {
    const caller = await door.identify(c.req.raw.headers, needs)
    const arrived = door.arrive(caller)
    let leave = () => {}
    const room = bodies.room(caller)
    try {
      c.set('caller', caller)
      c.set('room', room)
      if (c.req.method === 'POST') {
        const { value, weight } = await readJson(c.req.raw, bodyLimit(bodyBytes, caller), room)
        // The validators ask for it: what Hono keeps of a body is written and read again for each of them.
        c.req.json = <T>() => Promise.resolve(value as T)
        leave = arrived.enter()
        await turns.next(weight)
      } else {
        leave = arrived.enter()
      }
      await next()
    } finally {
      // A large answer is held until its reader has it.
      whenTaken(outgoingOf(c), room.giveBack)
      arrived.leave()
      leave()
    }
  }
}
