import type { ChatUpstream } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import type { UpstreamConfig } from '../../gateway/index.ts'
import { chatUpstream, openEmbeddedModel } from '../../model/index.ts'
import { bounded, fallback, openAiUpstream, renaming, retrying } from '../../model/openai/index.ts'

/**
 * The upstreams of a configuration, as one: each with its names, its retries and its queue, tried in order.
 * @param env where keys are looked up.
 * @throws InputError for an address or a key that cannot be used, and whatever loading an embedded model throws.
 */
export async function openUpstream(
  configs: readonly UpstreamConfig[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChatUpstream> {
  const opened: ChatUpstream[] = []
  try {
    for (const config of configs) opened.push(await openOne(config, env))
    return fallback(opened)
  } catch (error) {
    for (const upstream of opened) await upstream.close()
    throw error
  }
}

async function openOne(
  config: UpstreamConfig,
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChatUpstream> {
  const { models, retries, concurrency, queue } = config
  const raw = config.url === 'embedded' ? await openEmbedded(config) : openUrl(config, env)
  return bounded(retrying(renaming(raw, models), { retries }), { concurrency, queue })
}

async function openEmbedded({ name, model, renderer }: UpstreamConfig): Promise<ChatUpstream> {
  const { service } = await openEmbeddedModel({ reference: model, renderer })
  return chatUpstream({ name, service })
}

function openUrl(
  { name, url, keyEnv, tellsTokens, firstByteTimeoutMs, idleTimeoutMs, maxAnswerBytes }: UpstreamConfig,
  env: Readonly<Record<string, string | undefined>>,
): ChatUpstream {
  const key = keyEnv === undefined ? null : (env[keyEnv]?.trim() ?? '')
  if (key === '') {
    throw new InputError({
      code: 'input/missing-upstream-key',
      message: `The upstream "${name}" takes its key from ${keyEnv}, which is not set.`,
      hint: `Set ${keyEnv}, or leave the name out: then the client's own Authorization goes on to it.`,
    })
  }
  return openAiUpstream({ name, url, key, tellsTokens, firstByteTimeoutMs, idleTimeoutMs, maxAnswerBytes })
}
