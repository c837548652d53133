import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Where `ratchet pull` keeps models, each in a folder of its own name: `RATCHET_MODELS`, or `ratchet/models` in the user's
 * folder for caches.
 */
export function modelsFolder(env: NodeJS.ProcessEnv = process.env): string {
  const { RATCHET_MODELS: own, XDG_CACHE_HOME: caches } = env
  if (own !== undefined && own !== '') return own
  return join(caches !== undefined && caches !== '' ? caches : join(homedir(), '.cache'), 'ratchet', 'models')
}

/** A name, `owner/name`, either with `@revision`, and further the name of one file; each a plain word, none hidden or `..`. */
const pattern = /^[\w-][\w.@-]*(?:\/[\w-][\w.@-]*){0,2}$/

/** Where a pulled model of that name would be; null for what cannot be the name of one. */
export function pulledPath(name: string, folder: string): string | null {
  return pattern.test(name) && name.length <= 300 ? join(folder, name) : null
}
