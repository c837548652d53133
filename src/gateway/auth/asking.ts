import type { MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Scope } from '../../core/index.ts'
import type { Caller, Doorkeeper } from '../ports.ts'
import { bodyTooLarge } from './refusals.ts'

/** What a route behind {@link asking} finds in its context. */
export interface AskedEnv {
  Variables: { caller: Caller }
}

/**
 * Lets in who may: knows the caller, holds them to their limits while the request lasts, and to the size of its body.
 * For routes whose answer is whole; a stream keeps its place longer than its handler runs.
 */
export function asking(door: Doorkeeper, needs: Scope, bodyBytes: number): MiddlewareHandler<AskedEnv> {
  return async (c, next) => {
    const caller = await door.identify(c.req.raw.headers, needs)
    const leave = door.admit(caller)
    try {
      c.set('caller', caller)
      const maxSize = Math.min(
        bodyBytes,
        caller.limits.bodyBytes ?? bodyBytes,
        caller.parent?.limits.bodyBytes ?? bodyBytes,
      )
      return await bodyLimit({
        maxSize,
        onError: () => {
          throw bodyTooLarge(maxSize)
        },
      })(c, next)
    } finally {
      leave()
    }
  }
}
