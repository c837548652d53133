import type { ServerResponse } from 'node:http'

/**
 * Calls back once nobody waits for a request's answer any more: under Node's server, when it has gone out or its connection
 * has; elsewhere at once.
 */
export function whenTaken(outgoing: ServerResponse | null, act: () => void): void {
  if (outgoing === null || outgoing.closed || outgoing.destroyed) act()
  else outgoing.once('close', act)
}
