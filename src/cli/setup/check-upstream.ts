import { openUpstream } from '../serve/open-upstream.ts'
import type { UpstreamConfig } from '../../gateway/index.ts'
import { failure, type Finding, found, ok, warning } from './finding.ts'

/**
 * Whether an upstream answers, with its key where it has one: it is asked for its models, which costs nothing.
 * @param timeoutMs how long it may take to name them, and a Tinker server to open a session before.
 */
export function checkUpstream(
  config: UpstreamConfig,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs = 10_000,
): Promise<Finding> {
  const check = `upstream ${config.name}`
  return found(check, async () => {
    const noAdapters = () => Promise.reject(new Error('no adapter is looked up here'))
    const upstream = await openUpstream([{ ...config, retries: 0 }], env, noAdapters, { timeoutMs })
    try {
      const models = await upstream.models({ authorization: null, signal: AbortSignal.timeout(timeoutMs) })
      const names = models.map(({ id }) => id)
      const some = names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : '')
      if (config.url === 'embedded') return embedded(check, some)
      if (config.server) return ok(check, `It answers, and has ${some}.`)
      if (names.length === 0)
        return warning(check, 'It answers, and names no model.', 'See that its server has loaded one.')
      return ok(check, `It answers, and serves ${names.length === 1 ? some : `${names.length} models: ${some}`}.`)
    } catch (error) {
      if (config.server) throw error
      return refused(check, config, error)
    } finally {
      await upstream.close()
    }
  })
}

const embedded = (check: string, name: string): Finding =>
  name.startsWith('minimind2')
    ? warning(
        check,
        `The engine runs ${name}. It has 26 million weights: good for a trial, with poor answers.`,
        'For a real agent give its API: `ratchet serve --upstream https://api.openai.com/v1`.',
      )
    : ok(check, `The engine runs ${name}.`)

function refused(check: string, { url, keyEnv }: UpstreamConfig, error: unknown): Finding {
  const says = error instanceof Error ? error.message : String(error)
  const { status } = error as { readonly status?: unknown }
  if (status !== 401 && status !== 403) {
    return failure(
      check,
      `${url} does not answer as an OpenAI-compatible API does: ${says}`,
      'Check the address, /v1 included, and that its server runs.',
    )
  }
  // Without a key of the gateway's own the agent's goes on, which is not here.
  if (keyEnv === undefined) return ok(check, 'It answers, and asks for a key: your agent has to send it.')
  return failure(check, `It refuses the key in ${keyEnv}.`, `Put a valid key into ${keyEnv}.`)
}
