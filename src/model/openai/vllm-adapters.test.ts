import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recorded, recordedAdapter } from '../../../test/support/recorded.ts'
import { startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { callOf, chunksOf, failureOf, textOf, until } from '../../../test/support/upstream/ask.ts'
import { type ChatUpstream, sha256 } from '../../core/index.ts'
import { writeAdapter } from '../embedded/index.ts'
import type { TransformerConfig } from '../embedded/transformer/config.ts'
import { bounded } from './bounded.ts'
import { fallback } from './fallback.ts'
import { openAiUpstream, type OpenAiUpstreamOptions } from './open-ai-upstream.ts'
import { renaming } from './renaming.ts'
import { retrying } from './retrying.ts'

const { config } = recorded('llama') as { config: TransformerConfig }
const adapters = new Map(
  [4, 6, 8].map((alpha) => {
    const bytes = writeAdapter(config, recordedAdapter(config, 4, alpha))
    return [sha256(bytes), bytes] as const
  }),
)
const hashes = [...adapters.keys()]
const hash = (i: number) => hashes[i]!
const nameOf = (i: number) => `ratchet-${hash(i).slice(0, 24)}`

let folder: string
const open: { close(): Promise<void> }[] = []
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ratchet-lora-'))
})
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
  rmSync(folder, { recursive: true, force: true })
})

const started = async (scripted: UpstreamOptions = {}): Promise<Upstream> => {
  const server = await startUpstream({ models: ['qwen'], lora: {}, say: ({ model }) => `I am ${model}`, ...scripted })
  open.push(server)
  return server
}

function over(server: Upstream, options: Partial<OpenAiUpstreamOptions> = {}, most?: number): ChatUpstream {
  const bytes = (wanted: string) => {
    const found = adapters.get(wanted)
    return found ? Promise.resolve(found) : Promise.reject(new Error(`there is no blob ${wanted}`))
  }
  const upstream = openAiUpstream({
    name: 'house',
    url: server.url,
    adapters: { folder, bytes, ...(most === undefined ? {} : { most }) },
    ...options,
  })
  open.push(upstream)
  return upstream
}

const weightsOf = (upstream: ChatUpstream, adapter: string | null, model = 'qwen') => ({
  ...upstream.weights(model),
  adapter,
})
const asking = (upstream: ChatUpstream, adapter: string | null, request: object = {}) =>
  callOf({ model: 'qwen', ...request }, { weights: weightsOf(upstream, adapter) })
const kinds = ({ loads }: Upstream) =>
  loads.map(
    ({ kind, name }) =>
      `${kind} ${nameOf(0) === name ? 0 : hashes.findIndex((one) => name === `ratchet-${one.slice(0, 24)}`)}`,
  )

describe('an adapter on a vLLM server', () => {
  it('is loaded once, asked for by its name, and answers under the name of the model', async () => {
    const server = await started()
    const upstream = over(server)
    expect(upstream.servesAdapters).toBe(true)
    await upstream.prepare('qwen', weightsOf(upstream, hash(0)))
    await upstream.prepare('qwen', weightsOf(upstream, hash(0)))
    expect(server.loads).toEqual([{ kind: 'load', name: nameOf(0), path: join(folder, nameOf(0)) }])
    const reply = await upstream.chat(asking(upstream, hash(0)))
    if (reply.kind !== 'whole') throw new Error('a stream')
    expect(reply.completion.choices[0]?.message.content).toBe(`I am ${nameOf(0)}`)
    expect(reply.completion.model).toBe('qwen')
    const { chunks } = await chunksOf(await upstream.chat(asking(upstream, hash(0), { stream: true })))
    expect(new Set(chunks.map(({ model }) => model))).toEqual(new Set(['qwen']))
    expect(server.loads).toHaveLength(1)
  })

  it('leaves the base as it is, and does not show in the list of models', async () => {
    const server = await started()
    const upstream = over(server)
    await textOf(upstream, asking(upstream, hash(0)))
    expect(await textOf(upstream, asking(upstream, null))).toBe('I am qwen')
    expect(await textOf(upstream, callOf({ model: 'qwen' }))).toBe('I am qwen')
    const { signal } = new AbortController()
    expect((await upstream.models({ authorization: null, signal })).map(({ id }) => id)).toEqual(['qwen'])
    expect(upstream.weights('qwen')).toEqual(weightsOf(upstream, null))
  })

  it('may be loaded already, by another gateway', async () => {
    const server = await started()
    const [one, other] = [over(server), over(server)]
    expect(await textOf(one, asking(one, hash(0)))).toBe(`I am ${nameOf(0)}`)
    expect(await textOf(other, asking(other, hash(0)))).toBe(`I am ${nameOf(0)}`)
    expect(kinds(server)).toEqual(['load 0', 'load 0'])
    expect(readdirSync(folder)).toEqual([nameOf(0)])
  })

  it('is loaded again by a server that has begun anew', async () => {
    const server = await started()
    const upstream = over(server)
    await textOf(upstream, asking(upstream, hash(0)))
    for (const stream of [false, true]) {
      server.set({ models: ['qwen'] })
      expect(await textOf(upstream, asking(upstream, hash(0), { stream }))).toBe(`I am ${nameOf(0)}`)
    }
    expect(kinds(server)).toEqual(['load 0', 'load 0', 'load 0'])
  })

  it('is loaded once for requests that come together', async () => {
    const server = await started()
    const upstream = over(server)
    const texts = await Promise.all(Array.from({ length: 8 }, () => textOf(upstream, asking(upstream, hash(0)))))
    expect(new Set(texts)).toEqual(new Set([`I am ${nameOf(0)}`]))
    expect(server.loads).toHaveLength(1)
  })

  it('goes when there are too many, the least recently used first, and not while it answers', async () => {
    const server = await started({ chunkDelayMs: 20 })
    const upstream = over(server, {}, 2)
    const slow = await upstream.chat(asking(upstream, hash(0), { stream: true }))
    for (const i of [1, 2]) await textOf(upstream, asking(upstream, hash(i)))
    await until(() => server.loads.length === 4)
    expect(kinds(server)).toEqual(['load 0', 'load 1', 'load 2', 'unload 1'])
    expect((await chunksOf(slow)).failure).toBeNull()
    expect(await textOf(upstream, asking(upstream, hash(1)))).toBe(`I am ${nameOf(1)}`)
    await until(() => server.loads.length === 6)
    expect(kinds(server).slice(4).toSorted()).toEqual(['load 1', 'unload 0'])
  })
})

describe('an adapter that cannot be served', () => {
  const unserved = { code: 'model/adapter-not-served' }

  it('is told from what the client asked wrong, and is not tried by every request', async () => {
    const server = await started({ lora: { maxRank: 2 } })
    const upstream = over(server)
    for (let i = 0; i < 3; i += 1) {
      expect(await failureOf(upstream.chat(asking(upstream, hash(0))))).toMatchObject({
        ...unserved,
        kind: 'broken',
        message: expect.stringContaining('max_lora_rank') as string,
      })
    }
    expect(server.loads).toHaveLength(1)
    await expect(upstream.prepare('qwen', weightsOf(upstream, hash(0)))).rejects.toMatchObject(unserved)
    expect(server.loads).toHaveLength(2)
    await expect(upstream.chat(asking(upstream, 'f'.repeat(64)))).rejects.toMatchObject(unserved)
    expect(await textOf(upstream, asking(upstream, null))).toBe('I am qwen')
  })

  it('is refused by a server that may not load any, by one of another model, and where none is configured', async () => {
    const server = await started()
    const upstream = over(server)
    const other = { ...weightsOf(upstream, hash(0)), base: 'elsewhere/qwen' }
    await expect(upstream.prepare('qwen', other)).rejects.toMatchObject({ ...unserved, kind: 'refused' })
    const plain = over(server, { adapters: null })
    expect(plain.servesAdapters).toBe(false)
    await plain.prepare('qwen', weightsOf(plain, null))
    await expect(plain.prepare('qwen', weightsOf(plain, hash(0)))).rejects.toMatchObject({
      ...unserved,
      kind: 'refused',
    })
    const [closed] = [await startUpstream({ models: ['qwen'] })]
    open.push(closed)
    const barred = over(closed)
    await expect(barred.prepare('qwen', weightsOf(barred, hash(0)))).rejects.toMatchObject({
      ...unserved,
      kind: 'broken',
    })
  })

  it('passes through queues, retries and names', async () => {
    const server = await started()
    const wrapped = bounded(retrying(renaming(over(server), { gpt: 'qwen' }), { retries: 2 }), {
      concurrency: 1,
      queue: 0,
    })
    expect(wrapped.servesAdapters).toBe(true)
    const weights = { ...wrapped.weights('gpt'), adapter: hash(0) }
    expect(weights.base).toBe('house/qwen')
    await wrapped.prepare('gpt', weights)
    expect(await textOf(wrapped, callOf({ model: 'gpt' }, { weights }))).toBe(`I am ${nameOf(0)}`)
    server.set({ lora: { maxRank: 2 }, models: ['qwen'] })
    await expect(
      wrapped.chat(callOf({ model: 'gpt' }, { weights: { ...weights, adapter: hash(1) } })),
    ).rejects.toMatchObject(unserved)
    expect(kinds(server)).toEqual(['load 0', 'load 1'])
  })

  it('is answered by whichever of several can, and by nobody else', async () => {
    const house = await started()
    const plain = await started({ say: () => 'I am another' })
    const second = over(plain, { name: 'plain', adapters: null })
    const both = fallback([over(house), second])
    expect(both.servesAdapters).toBe(true)
    await both.prepare('qwen', weightsOf(both, hash(0)))
    expect(await textOf(both, asking(both, hash(0)))).toBe(`I am ${nameOf(0)}`)
    await house.goAway()
    await expect(both.chat(asking(both, hash(0)))).rejects.toMatchObject({ ...unserved, upstream: 'house, plain' })
    expect(plain.requests.filter(({ path }) => path.endsWith('completions'))).toHaveLength(0)
    expect(await textOf(both, asking(both, null))).toBe('I am another')
    const turned = fallback([second, over(house)])
    await expect(turned.prepare('qwen', weightsOf(turned, hash(1)))).rejects.toMatchObject(unserved)
  })
})
