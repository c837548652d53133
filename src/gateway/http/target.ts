import type { IncomingMessage } from 'node:http'
import type { GatewayError } from '../errors.ts'
import { refusal } from './refusals.ts'

/** A segment that is `.` or `..`, however its dots are written. */
const dotSegment = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i

/** Headers of which each must come once: of two, it would be a matter of chance which one counts. */
const once = (name: string) => name.startsWith('ratchet-') || name === 'idempotency-key'

/**
 * Why a request cannot be taken as it came over the wire, before its parts are resolved and joined; `null` where it can.
 * Dot segments: whoever guards paths before the gateway has read another path than the one that they resolve to.
 */
export function wrongOnTheWire({
  url = '/',
  rawHeaders,
}: Pick<IncomingMessage, 'url' | 'rawHeaders'>): GatewayError | null {
  const [path = ''] = url.split(/[?#]/, 1)
  if (dotSegment.test(path)) {
    return refusal('bad-target', "The request's path has dot segments.", 'Send the path that is meant.')
  }
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    if (!once(name)) continue
    if (seen.has(name)) {
      const what = name.slice(0, 64)
      return refusal('bad-header', `The header ${what} comes more than once.`, 'Send it once.', { param: what })
    }
    seen.add(name)
  }
  return null
}
