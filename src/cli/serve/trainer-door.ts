import { type KeyRepository, systemClock } from '../../core/index.ts'
import { doorkeeper, ServeConfig } from '../../gateway/index.ts'
import type { Door } from '../../trainer/index.ts'

/** What the Tinker SDK wants a key to begin with. */
const prefix = 'tml-'

/**
 * The gateway's doorkeeper at the door of a trainer server: the same keys, with the same limits. The SDK sends `tml-` and the
 * key; without keys in the store, this machine is let in whatever it sends.
 */
export function trainerDoor(keys: Pick<KeyRepository, 'get' | 'list'>, host: string): Door {
  const config = ServeConfig.parse({ host, upstreams: [{ name: 'none', url: 'embedded', model: 'none' }] })
  const keeper = doorkeeper({ keys, config, clock: systemClock })
  return async (headers, takes) => {
    const caller = await keeper.identify(withoutPrefix(headers), 'infer')
    const arrived = takes === 'nothing' ? uncounted : keeper.arrive(caller, takes)
    return {
      owner: caller.key,
      bodyBytes: caller.limits.bodyBytes,
      enter: () => arrived.enter(),
      leave: () => arrived.leave(),
    }
  }
}

const uncounted = { enter: () => () => {}, leave() {} }

function withoutPrefix(headers: Headers): Headers {
  const own = new Headers(headers)
  const key = own.get('x-api-key')?.trim()
  if (key?.startsWith(prefix)) own.set('x-api-key', key.slice(prefix.length))
  return own
}
