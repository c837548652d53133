import type { z } from 'zod'
import { defaultTenant, parseInput } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { ServeConfig } from '../../gateway/index.ts'
import { readConfig } from '../read-config.ts'
import { gatewayConfig } from '../setup/gateway-config.ts'
import { type ServerFlags, serverOf } from '../server-flags.ts'
import type { StoreFlags } from '../with-store.ts'
import { learnedAgent } from './learned-agent.ts'

export interface ServeFlags extends StoreFlags, ServerFlags {
  readonly config?: string
  /** Base URLs of OpenAI-compatible APIs, in the order in which they are tried. */
  readonly upstream?: readonly string[]
  /** Environment variable with the upstream's key. */
  readonly upstreamKey?: string
  readonly model?: string
  /** An agent that `ratchet learn` taught, which brings its model along. */
  readonly agent?: string
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
  const { upstreamKey, host, port, record } = flags
  refuseSeveralModels(flags)
  if (flags.agent !== undefined) refuseOtherAgents(config)
  if (upstreamKey !== undefined && flags.upstream === undefined) {
    throw new InputError({
      code: 'input/key-without-upstream',
      message: '--upstream-key names a key, and there is no --upstream that it is for.',
      hint: 'Give --upstream, or "keyEnv" in a configuration file; the key of a Tinker server is TINKER_API_KEY.',
    })
  }
  const asked = {
    ...(await modelsOf(flags)),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(record === undefined ? {} : { record }),
  }
  // The file is parsed already: what that made of it (durations are numbers by now) does not parse again.
  const said = parseInput(ServeConfig, asked, 'The flags')
  return {
    ...config,
    ...(asked.upstreams === undefined ? {} : { upstreams: said.upstreams }),
    ...(asked.agents === undefined ? {} : { agents: said.agents }),
    ...(host === undefined ? {} : { host: said.host }),
    ...(port === undefined ? {} : { port: said.port }),
    ...(record === undefined ? {} : { record: said.record }),
  }
}

/** Who answers, and whose releases are served, where the flags say so. */
async function modelsOf(flags: ServeFlags): Promise<Pick<z.input<typeof ServeConfig>, 'upstreams' | 'agents'>> {
  const server = serverOf(flags)
  const { upstream = [], upstreamKey, model, agent } = flags
  if (agent !== undefined) return learnedAgent(flags, agent)
  const named = model === undefined ? {} : { model }
  if (server !== undefined) return { upstreams: [{ name: 'tinker', url: 'tinker', server, ...named }] }
  if (model !== undefined) return { upstreams: [{ name: 'embedded', url: 'embedded', model }] }
  const key = upstreamKey === undefined ? {} : { keyEnv: upstreamKey }
  return upstream.length > 0
    ? { upstreams: upstream.map((url, i) => ({ name: upstreamName(url, i), url, ...key })) }
    : {}
}

/** @throws InputError for flags that name more than one model. */
function refuseSeveralModels({ upstream, model, server, agent }: ServeFlags): void {
  if (upstream !== undefined && model !== undefined) {
    throw new InputError({
      code: 'input/model-and-upstream',
      message: '--model names the model of the embedded engine, and --upstream another place that answers.',
      hint: 'Give one of them; with both in mind, list them under "upstreams" in a configuration file.',
    })
  }
  if (upstream !== undefined && server !== undefined) {
    throw new InputError({
      code: 'input/server-and-upstream',
      message: '--server is a Tinker server that answers, and --upstream another place that does.',
      hint: 'Give one of them; with both in mind, list them under "upstreams" in a configuration file.',
    })
  }
  const [other] = Object.entries({ upstream, model, server }).flatMap(([name, given]) => (given ? [name] : []))
  if (agent === undefined || other === undefined) return
  throw new InputError({
    code: 'input/agent-brings-model',
    message: `--agent serves what an agent learned, with the model that it learned on, and --${other} names another.`,
    hint: `Leave --${other} out, or describe upstream and agent in a configuration file (docs/gateway.md).`,
  })
}

/** @throws InputError for a configuration that says whom to serve, or for whom. */
function refuseOtherAgents({ agents, tenant }: ServeConfig): void {
  const other =
    agents.length > 0
      ? `describes agents of its own: ${agents.map(({ name }) => name).join(', ')}`
      : tenant === defaultTenant
        ? null
        : `is for the tenant ${tenant}, which no run of \`ratchet learn\` is`
  if (other === null) return
  throw new InputError({
    code: 'input/agent-brings-model',
    message: `--agent serves one agent with the model that it learned on, and the configuration ${other}.`,
    hint: 'Describe the agent in the configuration, or give another --config.',
  })
}

/** The host that an upstream is at, which people know it by. */
function upstreamName(url: string, index: number): string {
  const host = URL.canParse(url) ? new URL(url).hostname : ''
  return `${host || 'upstream'}${index === 0 ? '' : `-${index + 1}`}`.slice(0, 64)
}
