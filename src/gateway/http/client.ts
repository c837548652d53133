import type { Context } from 'hono'
import { type HttpEnv, outgoingOf } from './both-paths.ts'

/** Whoever waits for an answer. */
export interface Client {
  /**
   * Calls `listener` when the client is gone before it has its answer, at once where it is gone already.
   * @returns what to call when nobody needs to know any more.
   */
  onGone(listener: () => void): () => void
}

/** The client of a request. Under Node's server its connection says when it is gone, and no signal is made for that. */
export function clientOf(c: Context<HttpEnv>): Client {
  const outgoing = outgoingOf(c)
  if (outgoing === null) return clientBehind(c.req.raw.signal)
  return {
    onGone(listener) {
      const closed = () => {
        if (!outgoing.writableFinished) listener()
      }
      if (outgoing.destroyed) closed()
      outgoing.once('close', closed)
      return () => outgoing.off('close', closed)
    },
  }
}

/** A client that a signal stands for: it fires when the client is gone. */
function clientBehind(signal: AbortSignal): Client {
  return {
    onGone(listener) {
      if (signal.aborted) listener()
      signal.addEventListener('abort', listener, { once: true })
      return () => signal.removeEventListener('abort', listener)
    },
  }
}
