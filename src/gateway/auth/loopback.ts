import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { KeyRepository } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import type { ServeConfig } from '../config.ts'
import { notThisMachine } from './refusals.ts'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether a host name or address means this machine and nobody else can reach it. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const version = isIP(bare)
  if (version === 0) return bare === 'localhost'
  return loopback.check(bare, version === 4 ? 'ipv4' : 'ipv6')
}

/**
 * Refuses to answer the network without keys: whoever reaches the port could read and teach the agent. `ratchet serve`
 * asks before it listens.
 * @throws InputError `gateway/open-to-the-network`.
 */
export async function assertMayServe(
  { host, auth }: Pick<ServeConfig, 'host' | 'auth'>,
  keys: Pick<KeyRepository, 'list'>,
): Promise<void> {
  if (auth === 'required' || isLoopback(host) || (await anyKey(keys))) return
  throw new InputError({
    code: 'gateway/open-to-the-network',
    message: `Listening on ${host} would let everyone on the network use and read this gateway: it has no key yet.`,
    hint: 'Make a key first (ratchet keys create NAME), or listen on 127.0.0.1. With "auth": "required" it starts without one and answers nobody.',
  })
}

/** Whether the gateway asks for keys now. Those of sessions do not count: they are handed out without one, too. */
export async function anyKey(keys: Pick<KeyRepository, 'list'>): Promise<boolean> {
  return (await keys.list({ sessions: false, limit: 1 })).length > 0
}

/**
 * Without keys, a web page could reach the gateway through its visitor's browser: under a name that was made to point to
 * this machine, or across origins. Both show in what the browser says of the request.
 * @throws GatewayError 403.
 */
export function assertFromThisMachine(headers: Headers): void {
  const host = headers.get('host')
  if (host !== null && !isHere(`http://${host}`)) throw notThisMachine('host')
  const origin = headers.get('origin')
  // Other schemes are extensions and desktop programs: those run here.
  if (origin !== null && (origin === 'null' || /^https?:/i.test(origin)) && !isHere(origin)) {
    throw notThisMachine('origin')
  }
}

/** Clients send the same few addresses with every request. */
const known = new LRUCache<string, boolean>({ max: 64 })

/** Whether a URL's host means this machine; what is no URL does not. */
function isHere(url: string): boolean {
  const before = known.get(url)
  if (before !== undefined) return before
  const here = URL.canParse(url) && isLoopback(new URL(url).hostname)
  known.set(url, here)
  return here
}
