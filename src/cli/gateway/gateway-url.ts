import { writerOf } from '../../store/index.ts'
import { locationOf, type StoreFlags } from '../with-store.ts'
import type { AskedGateway } from './ask-gateway.ts'

/** Where `ratchet serve` listens unless it is told otherwise. */
export const defaultGatewayUrl = 'http://127.0.0.1:8787'

/** What of a command names a gateway. */
export interface GatewayFlags extends StoreFlags {
  /** Where it is; by default, where the one answers that writes the store. */
  readonly url?: string
  /** Its API key. Default: RATCHET_API_KEY. */
  readonly key?: string
}

/** The gateway that was named; else the one of this machine that writes the store; else the one at the usual address. */
export function gatewayOf({ url, key, ...flags }: GatewayFlags): AskedGateway {
  const location = locationOf(flags)
  const writing = 'path' in location ? writerOf(location.path)?.url : undefined
  return { url: url ?? writing ?? defaultGatewayUrl, key }
}
