import type { BlobHash, ChatUpstream } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import { isSampledHere, type UpstreamConfig } from '../../gateway/index.ts'
import { chatUpstream } from '../../model/index.ts'
import {
  bounded,
  fallback,
  openAiUpstream,
  renaming,
  retrying,
  type VllmAdapterOptions,
} from '../../model/openai/index.ts'
import { openModel } from '../open-model.ts'
import { sayAside } from '../say-aside.ts'

type Env = Readonly<Record<string, string | undefined>>
type AdapterBytes = (hash: BlobHash) => Promise<Uint8Array>

/**
 * The upstreams of a configuration, as one: each with its names, its retries and its queue, tried in order.
 * @param env where keys are looked up.
 * @param adapterBytes where adapters are looked up.
 * @throws InputError for an address or a key that cannot be used, and whatever opening a model throws.
 */
export async function openUpstream(
  configs: readonly UpstreamConfig[],
  env: Env,
  adapterBytes: AdapterBytes,
): Promise<ChatUpstream> {
  const opened: ChatUpstream[] = []
  try {
    for (const config of configs) opened.push(await openOne(config, env, adapterBytes))
    return fallback(opened)
  } catch (error) {
    for (const upstream of opened) await upstream.close()
    throw error
  }
}

async function openOne(config: UpstreamConfig, env: Env, adapterBytes: AdapterBytes): Promise<ChatUpstream> {
  const { models, retries, concurrency, queue } = config
  const raw = isSampledHere(config) ? await openOwn(config, adapterBytes) : openUrl(config, env, adapterBytes)
  return bounded(retrying(renaming(raw, models), { retries }), { concurrency, queue })
}

async function openOwn(config: UpstreamConfig, adapterBytes: AdapterBytes): Promise<ChatUpstream> {
  const { name, mostAdapters, retries } = config
  const { service } = await openModel(config, { retries }, sayAside)
  return chatUpstream({ name, service, adapterBytes, mostAdapters, ownsService: true })
}

function openUrl(config: UpstreamConfig, env: Env, adapterBytes: AdapterBytes): ChatUpstream {
  const { name, url, keyEnv, tellsTokens, firstByteTimeoutMs, idleTimeoutMs, maxAnswerBytes } = config
  const key = keyEnv === undefined ? null : (env[keyEnv]?.trim() ?? '')
  if (key === '') {
    throw new InputError({
      code: 'input/missing-upstream-key',
      message: `The upstream "${name}" takes its key from ${keyEnv}, which is not set.`,
      hint: `Set ${keyEnv}, or remove keyEnv to forward the client's own Authorization.`,
    })
  }
  const adapters = adaptersOf(config, adapterBytes)
  return openAiUpstream({ name, url, key, tellsTokens, firstByteTimeoutMs, idleTimeoutMs, maxAnswerBytes, adapters })
}

function adaptersOf(
  { name, adapters, adapterFolder, mostAdapters }: UpstreamConfig,
  bytes: AdapterBytes,
): VllmAdapterOptions | null {
  if (adapters === 'none') return null
  if (adapterFolder !== undefined) return { folder: adapterFolder, bytes, most: mostAdapters }
  throw new InputError({
    code: 'input/no-adapter-folder',
    message: `The upstream "${name}" is to load adapters, and has no folder that it could read them from.`,
    hint: 'Set its adapterFolder to a folder that its server reads under the same path.',
  })
}
