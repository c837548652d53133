import type { Saved } from '../../core/index.ts'
import { notAPath } from './failures.ts'
import { TinkerUri } from './wire.ts'

/**
 * The path of weights at a server.
 * @throws InputError `model/tinker-path` for bytes, and for what is no path of weights.
 */
export function pathOf(saved: Saved): string {
  if (saved instanceof Uint8Array) throw notAPath(`${saved.length} bytes of weights.`)
  if (TinkerUri.safeParse(saved.uri).success && /^tinker:\/\/[^/]+\/weights\/[^/]+$/.test(saved.uri)) return saved.uri
  throw notAPath(`the path ${JSON.stringify(saved.uri)}.`)
}
