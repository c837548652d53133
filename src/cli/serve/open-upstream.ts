import type { BlobHash, ChatUpstream } from '../../core/index.ts'
import { InputError } from '../../errors/index.ts'
import type { Log, UpstreamConfig } from '../../gateway/index.ts'
import { chatUpstream } from '../../model/index.ts'
import {
  bounded,
  fallback,
  openAiUpstream,
  renaming,
  retrying,
  type VllmAdapterOptions,
} from '../../model/openai/index.ts'
import { type TinkerServer, tinkerUpstream } from '../../model/tinker/index.ts'
import { baseAtServer, openModel } from '../open-model.ts'
import { sayAside } from '../say-aside.ts'
import { keyOf } from './upstream-key.ts'

type Env = Readonly<Record<string, string | undefined>>
type AdapterBytes = (hash: BlobHash) => Promise<Uint8Array>

/** How sessions at Tinker servers are opened. */
export interface Opening {
  /** Takes what a server makes wait, what it does not heed, and why no session is open there. Default: nobody. */
  readonly log?: Pick<Log, 'info' | 'warn'>
  /** How long a server may take to open one. In milliseconds. Default 30,000. */
  readonly timeoutMs?: number
}

/**
 * The upstreams of a configuration, as one: each with its names, its retries and its queue, tried in order. A Tinker server
 * that is down, late or busy now is asked again with a later request.
 * @param env where keys are looked up.
 * @param adapterBytes where adapters are looked up.
 * @throws InputError for an address or a key that cannot be used, and whatever else opening a model throws.
 */
export async function openUpstream(
  configs: readonly UpstreamConfig[],
  env: Env,
  adapterBytes: AdapterBytes,
  opening: Opening = {},
): Promise<ChatUpstream> {
  const opened: ChatUpstream[] = []
  try {
    for (const config of configs) {
      const { models, concurrency, queue } = config
      opened.push(bounded(renaming(await openOne(config, env, adapterBytes, opening), models), { concurrency, queue }))
    }
    return fallback(opened)
  } catch (error) {
    for (const upstream of opened) await upstream.close()
    throw error
  }
}

async function openOne(
  config: UpstreamConfig,
  env: Env,
  adapterBytes: AdapterBytes,
  opening: Opening,
): Promise<ChatUpstream> {
  const { retries, server } = config
  if (server) return openAtServer({ ...config, server }, env, adapterBytes, opening)
  const raw = config.url === 'embedded' ? await openEmbedded(config, adapterBytes) : openUrl(config, env, adapterBytes)
  return retrying(raw, { retries })
}

async function openEmbedded(config: UpstreamConfig, adapterBytes: AdapterBytes): Promise<ChatUpstream> {
  const { name, mostAdapters } = config
  const { service } = await openModel(config, {}, sayAside)
  return chatUpstream({ name, service, adapterBytes, mostAdapters, ownsService: true })
}

/** Its client tries again by itself, and never draws a sample twice. */
function openAtServer(
  config: UpstreamConfig & { readonly server: TinkerServer },
  env: Env,
  adapterBytes: AdapterBytes,
  { log = { info: () => {}, warn: () => {} }, timeoutMs: openTimeoutMs = 30_000 }: Opening,
): Promise<ChatUpstream> {
  const { name, mostAdapters, retries, concurrency, maxAnswerBytes, firstByteTimeoutMs: answerTimeoutMs } = config
  const limits = { retries, concurrency, maxAnswerBytes, resultTimeoutMs: answerTimeoutMs }
  const apiKey = keyOf(config, env)
  const open = async (signal: AbortSignal) =>
    (await openModel(config, { limits, signal, ...(apiKey && { apiKey }) }, (line) => log.warn(line))).service
  return tinkerUpstream({
    name,
    open,
    base: () => baseAtServer(config.server, config),
    adapterBytes,
    mostAdapters,
    answerTimeoutMs,
    openTimeoutMs,
    onOpening(problem) {
      if (problem === null) return log.info(`the upstream ${name} has a session at its server now`)
      // Without its cause, whose words it has.
      const { code, message, hint } = problem
      log.warn(
        { err: { code, message, hint } },
        `the upstream ${name} has no session at its server; later requests try again`,
      )
    },
  })
}

function openUrl(config: UpstreamConfig, env: Env, adapterBytes: AdapterBytes): ChatUpstream {
  const { name, url, tellsTokens, firstByteTimeoutMs, idleTimeoutMs, maxAnswerBytes } = config
  const key = keyOf(config, env)
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
