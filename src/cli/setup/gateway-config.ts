import { existsSync } from 'node:fs'

/** The configuration of `ratchet serve`, as `ratchet init` writes it: what is in this folder is read without being named. */
export const gatewayConfigFile = 'ratchet.json'

/** The configuration file that is meant: the one that was named, else the one of this folder, if there is one. */
export function gatewayConfig(named: string | undefined): string | undefined {
  if (named !== undefined) return named
  return existsSync(gatewayConfigFile) ? gatewayConfigFile : undefined
}
