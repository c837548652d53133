import { type KeyRepository, systemClock } from '../../core/index.ts'
import { type Caller, doorkeeper, ServeConfig } from '../../gateway/index.ts'
import type { Door } from '../../trainer/index.ts'

/** What the Tinker SDK wants a key to begin with. */
const prefix = 'tml-'

/** Signs of life of a key a minute: they count apart from its requests, so that none of these ends its sessions. */
const signs = { requestsPerMinute: 600, concurrency: null, bodyBytes: null }

/**
 * The gateway's doorkeeper at the door of a trainer server: the same keys, with the same limits. The SDK sends `tml-` and the
 * key; without keys in the store, this machine is let in whatever it sends.
 */
export function trainerDoor(keys: Pick<KeyRepository, 'get' | 'list'>, host: string): Door {
  const config = ServeConfig.parse({ host, upstreams: [{ name: 'none', url: 'embedded', model: 'none' }] })
  const options = { keys, config, clock: systemClock }
  const [keeper, ofSigns] = [doorkeeper(options), doorkeeper(options)]
  return async (headers, takes) => {
    const caller = await keeper.identify(withoutPrefix(headers), 'infer')
    const arrived = takes === 'nothing' ? ofSigns.arrive(counted(caller), 'no place') : keeper.arrive(caller, takes)
    return {
      owner: caller.key,
      bodyBytes: caller.limits.bodyBytes,
      enter: () => arrived.enter(),
      leave: () => arrived.leave(),
    }
  }
}

/** A session's signs count for the key that made it, too. */
const counted = (caller: Caller): Caller => ({
  ...caller,
  limits: signs,
  ...(caller.parent && { parent: { ...caller.parent, limits: signs } }),
})

function withoutPrefix(headers: Headers): Headers {
  const own = new Headers(headers)
  const key = own.get('x-api-key')?.trim()
  if (key?.startsWith(prefix)) own.set('x-api-key', key.slice(prefix.length))
  return own
}
