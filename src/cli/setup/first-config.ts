import type { z } from 'zod'
import { parseInput } from '../../core/index.ts'
import { ServeConfig } from '../../gateway/index.ts'

/** What `ratchet init` asks. */
export interface Setup {
  /** Base URL of the model's API, `/v1` included; `null` for the small model of the package. */
  readonly upstream: string | null
  /** Environment variable with the upstream's key; `null`: the client's own key goes on to it. */
  readonly keyEnv: string | null
  /** The agent whose episodes are recorded, and the model that it asks for. */
  readonly agent: { readonly name: string; readonly model: string } | null
}

/** APIs whose key has a name that everybody uses. */
const usualKeys: Readonly<Record<string, string>> = {
  'api.openai.com': 'OPENAI_API_KEY',
  'openrouter.ai': 'OPENROUTER_API_KEY',
  'api.together.xyz': 'TOGETHER_API_KEY',
  'api.groq.com': 'GROQ_API_KEY',
  'api.mistral.ai': 'MISTRAL_API_KEY',
}

/** The environment variable that usually holds an API's key; `null` where none is usual. */
export function usualKeyOf(upstream: string): string | null {
  return URL.canParse(upstream) ? (usualKeys[new URL(upstream).hostname] ?? null) : null
}

/**
 * The smallest configuration that runs: what has a default is left out.
 * @throws InputError where an answer is none that `ratchet serve` takes.
 */
export function firstConfig({ upstream, keyEnv, agent }: Setup): z.input<typeof ServeConfig> {
  const config: z.input<typeof ServeConfig> = {
    upstreams:
      upstream === null
        ? [{ name: 'embedded', url: 'embedded' }]
        : [{ name: hostOf(upstream), url: upstream, ...(keyEnv === null ? {} : { keyEnv }) }],
    ...(agent === null ? {} : { agents: [agent] }),
  }
  parseInput(ServeConfig, config, 'the answers')
  return config
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : 'upstream').slice(0, 64)
