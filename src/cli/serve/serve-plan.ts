import { parseInput } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { ServeConfig } from '../../gateway/index.ts'
import { readConfig } from '../read-config.ts'
import { gatewayConfig } from '../setup/gateway-config.ts'
import type { StoreFlags } from '../with-store.ts'

export interface ServeFlags extends StoreFlags {
  readonly config?: string
  /** Base URLs of OpenAI-compatible APIs, in the order in which they are tried. */
  readonly upstream?: readonly string[]
  /** Environment variable with the upstream's key. */
  readonly upstreamKey?: string
  readonly model?: string
  readonly host?: string
  readonly port?: number
  /** False: nothing is learned by this process. */
  readonly learn?: boolean
  readonly record?: 'required' | 'best-effort'
}

/**
 * What is to be served: the configuration file (by default `ratchet.json` of this folder), and over it the flags.
 * @throws InputError when they do not go together.
 */
export async function servePlan(flags: ServeFlags): Promise<ServeConfig> {
  const config = await readConfig(ServeConfig, gatewayConfig(flags.config), 'docs/gateway.md')
  const { upstream = [], upstreamKey, model, host, port, record } = flags
  if (upstream.length > 0 && model !== undefined) {
    throw new InputError({
      code: 'input/model-and-upstream',
      message: '--model names the model of the embedded engine, and --upstream another place that answers.',
      hint: 'Give one of them; with both in mind, list them under "upstreams" in a configuration file.',
    })
  }
  if (upstreamKey !== undefined && upstream.length === 0) {
    throw new InputError({
      code: 'input/key-without-upstream',
      message: '--upstream-key names a key, and there is no --upstream that it is for.',
      hint: 'Give --upstream as well, or "keyEnv" in a configuration file.',
    })
  }
  const key = upstreamKey === undefined ? {} : { keyEnv: upstreamKey }
  const named = upstream.map((url, i) => ({ name: upstreamName(url, i), url, ...key }))
  const upstreams = model === undefined ? named : [{ name: 'embedded', url: 'embedded', model }]
  const asked = {
    ...(upstreams.length > 0 ? { upstreams } : {}),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(record === undefined ? {} : { record }),
  }
  // The file is parsed already: what that made of it (durations are numbers by now) does not parse again.
  const said = parseInput(ServeConfig, asked, 'The flags')
  return {
    ...config,
    ...(upstreams.length > 0 ? { upstreams: said.upstreams } : {}),
    ...(host === undefined ? {} : { host: said.host }),
    ...(port === undefined ? {} : { port: said.port }),
    ...(record === undefined ? {} : { record: said.record }),
  }
}

/** The host that an upstream is at, which people know it by. */
function upstreamName(url: string, index: number): string {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return `${host || 'upstream'}${index === 0 ? '' : `-${index + 1}`}`.slice(0, 64)
}
