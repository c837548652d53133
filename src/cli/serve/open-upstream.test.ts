import { afterEach, describe, expect, it } from 'vitest'
import { type Fault, openTinkerServer } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import { startUpstream } from '../../../test/support/upstream-server.mjs'
import type { ChatUpstream } from '../../core/index.ts'
import { UpstreamConfig } from '../../gateway/index.ts'
import { openUpstream } from './open-upstream.ts'

const none = () => Promise.reject(new Error('there are no adapters'))
const parsed = (configs: readonly object[]) =>
  configs.map((config) => UpstreamConfig.parse({ name: 'house', url: 'http://127.0.0.1:9/v1', ...config }))
const open = (...configs: object[]) => openUpstream(parsed(configs), {}, none)

it('serves adapters where it is told how', async () => {
  const plain = await open({})
  const vllm = await open({ name: 'a' }, { name: 'b', adapters: 'vllm', adapterFolder: '/srv/adapters' })
  expect([plain.servesAdapters, vllm.servesAdapters]).toEqual([false, true])
  await plain.close()
  await vllm.close()
})

it('says what is missing: a key, a folder for adapters', async () => {
  await expect(open({ adapters: 'vllm' })).rejects.toMatchObject({ code: 'input/no-adapter-folder' })
  await expect(open({ keyEnv: 'HOUSE_KEY' })).rejects.toMatchObject({ code: 'input/missing-upstream-key' })
})

describe('a Tinker server that cannot be used at the start', () => {
  const folder = tinyTokenizerFolder()
  const opened: { close(): Promise<unknown> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).toReversed()) await one.close()
  })

  async function start(fault: Fault | undefined, timeoutMs?: number) {
    const server = await openTinkerServer(() => fault)
    const other = await startUpstream({ anyModel: true })
    opened.push(server, other)
    const there = { name: 'there', url: 'tinker', server: { url: server.url, folder }, model: 'tiny' }
    const configs = parsed([
      { ...there, retries: 0 },
      { name: 'other', url: other.url },
    ])
    const log: unknown[][] = []
    const tell = (...said: unknown[]) => void log.push(said)
    const upstream = await openUpstream(configs, {}, none, {
      log: { info: tell, warn: tell },
      ...(timeoutMs && { timeoutMs }),
    })
    opened.push(upstream)
    return { upstream, log }
  }

  const ask = (upstream: ChatUpstream) =>
    upstream.chat({
      request: { model: 'tiny', messages: [{ role: 'user', content: 'hello' }] },
      weights: null,
      history: null,
      authorization: null,
      signal: AbortSignal.timeout(5_000),
    })

  it.each<[string, Fault, string]>([
    ['is down', { kind: 'unheard' }, 'model/upstream-unreachable'],
    ['holds requests back', { kind: 'status', status: 429 }, 'model/upstream-timeout'],
  ])('leaves its requests to others where it %s, and says so once', async (_, fault, code) => {
    const { upstream, log } = await start(fault, 300)
    const told = { err: { code, hint: expect.any(String) as string } }
    const warning = 'the upstream there has no session at its server; later requests try again'
    expect(log.at(-1)).toMatchObject([told, warning])
    const lines = log.length
    expect(await ask(upstream)).toMatchObject({ upstream: 'other' })
    expect(upstream.weights('tiny', 'there')).toMatchObject({ base: 'tiny', adapter: null })
    expect(log).toHaveLength(lines)
  })

  it('is asked first where nothing is wrong, and nothing is said', async () => {
    const { upstream, log } = await start(undefined)
    expect(await ask(upstream)).toMatchObject({ upstream: 'there' })
    expect(log).toEqual([])
  })

  it('is an error where waiting would not help', async () => {
    await expect(start({ kind: 'status', status: 403 })).rejects.toMatchObject({ code: 'model/tinker-refused' })
  })
})
