import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { admissionOf, setOf } from '../../../test/support/canary-parts.ts'
import { recorded, recordedAdapter } from '../../../test/support/recorded.ts'
import { scriptedService } from '../../../test/support/scripted-service.ts'
import { startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { type ChatUpstream, mintVersion, type Store, type TrajectoryId, type Version } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import { type RunningGateway, ServeConfig } from '../../gateway/index.ts'
import { type Log, silent } from '../../gateway/log.ts'
import { writeAdapter } from '../../model/index.ts'
import { chatUpstream } from '../../model/index.ts'
import { fallback, openAiUpstream } from '../../model/openai/index.ts'
import type { TransformerConfig } from '../../model/index.ts'
import { Registry } from '../../release/index.ts'
import { openMemoryStore } from '../../store/index.ts'
import { serveReleases } from './serve-releases.ts'

/*
 * The whole way of a release: from the registry through the router to what the model is asked, and into the record.
 */
const agent = 'support'
const everybody = { name: 'canary', config: {}, shares: [1] }
const text = (parameter: string, value: string) =>
  mintVersion(parameter, { kind: 'text', text: value }, { parents: [], run: null })

let store: Store
let registry: Registry
let folder: string
const open: { close(): Promise<unknown> }[] = []
beforeEach(async () => {
  store = await openMemoryStore()
  registry = new Registry(store)
  folder = mkdtempSync(join(tmpdir(), 'ratchet-serve-'))
})
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

const configOf = (more: object = {}) =>
  ServeConfig.parse({
    port: 0,
    agents: [{ name: agent, model: 'qwen', system: 'Be kind.', tools: { f: 'Does.' } }],
    ...more,
  })

async function start(upstream: ChatUpstream, config = configOf(), logger: Log = silent): Promise<RunningGateway> {
  const gateway = await serveReleases({ config, store, upstream, exclusive: true, logger })
  open.push(gateway)
  return gateway
}

/** A vLLM server whose model tells its name and its system prompt. */
async function vllm(options: UpstreamOptions = {}): Promise<{ server: Upstream; upstream: ChatUpstream }> {
  const say: UpstreamOptions['say'] = ({ model, messages }) => `${model}: ${String(messages[0]?.content)}`
  const server = await startUpstream({ models: ['qwen'], lora: {}, tellsTokens: true, say, ...options })
  const adapters = { folder, bytes: (hash: string) => store.blobs.get(hash) }
  const upstream = openAiUpstream({ name: 'house', url: server.url, adapters })
  open.push(server, upstream)
  return { server, upstream }
}

/** The agent's weights with a new adapter, whose bytes are in the store. */
async function adapted(upstream: ChatUpstream): Promise<Version> {
  const { config } = recorded('llama') as { config: TransformerConfig }
  const adapter = await store.blobs.put(writeAdapter(config, recordedAdapter(config, 4, 8)))
  return mintVersion('model', { ...upstream.weights('qwen'), adapter }, { parents: [], run: null })
}
const tryOut = (...versions: Version[]) =>
  registry.startCanary({ agent, versions, admission: null, run: null, gate: everybody })

const client = ({ url }: RunningGateway, headers: Record<string, string> = { 'ratchet-agent': agent }) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0, defaultHeaders: headers })
const conversation = [
  { role: 'system', content: 'Be kind.' },
  { role: 'user', content: 'Hi' },
] as const
const body = { model: 'qwen', messages: [...conversation], temperature: 0 }
async function ask(gateway: RunningGateway, more: object = {}, headers?: Record<string, string>) {
  const { data, response } = await client(gateway, headers)
    .chat.completions.create({ ...body, ...more })
    .withResponse()
  return { said: data.choices[0]?.message.content, model: data.model, headers: response.headers }
}
const trajectoryOf = async ({ headers }: Awaited<ReturnType<typeof ask>>) =>
  present(await store.trajectories.get(headers.get('ratchet-trajectory') as TrajectoryId), 'the trajectory').trajectory
const chats = ({ requests }: Upstream) => requests.filter(({ path }) => path.endsWith('/completions'))

describe('a canary of an adapter and a prompt', () => {
  it('is what the model is asked with, by either API; a rollback ends that within a second, to the byte', async () => {
    const { server, upstream } = await vllm()
    const gateway = await start(upstream)
    const plain = await ask(gateway, {}, {})
    const before = await ask(gateway)
    expect([plain.said, before.said]).toEqual(['qwen: Be kind.', 'qwen: Be kind.'])
    expect(chats(server)[1]?.raw).toBe(chats(server)[0]?.raw)
    expect(plain.headers.has('ratchet-release')).toBe(false)
    const release = before.headers.get('ratchet-release')
    expect(release).toBe((await registry.current(agent)).release.id)

    const weights = await adapted(upstream)
    const canary = await tryOut(weights, text('system', 'Be brief.'), text('tool-f', 'Does it.'))
    const trying = async () => {
      const answer = await ask(gateway, {
        tools: [{ type: 'function', function: { name: 'f', description: 'Does.' } }],
      })
      return answer.said?.startsWith('ratchet-') ? answer : null
    }
    const tried = await vi.waitUntil(trying, { timeout: 10_000 })
    expect(tried.said).toMatch(/^ratchet-[0-9a-f]{24}: Be brief\.$/)
    expect(tried.model).toBe('qwen')
    expect(chats(server).at(-1)?.body?.['tools']).toMatchObject([{ function: { name: 'f', description: 'Does it.' } }])
    expect(tried.headers.get('ratchet-release')).toBe(release)
    expect([...tried.headers.keys()].filter((name) => /canary|generation/.test(name))).toEqual([])
    const { origin, decisions, nodes } = await trajectoryOf(tried)
    expect(origin).toMatchObject({ servedBy: { release, canary: { id: canary.id, arm: 'candidate', propensity: 1 } } })
    expect(decisions).toMatchObject([
      { parameter: 'model', version: weights.id, generation: 2 },
      { parameter: 'system', generation: 2 },
      { parameter: 'tool-f', generation: 2 },
    ])
    expect(nodes[0]?.message.content).toBe('Be brief.')

    const responses = client(gateway).responses
    const said = await responses.create({ model: 'qwen', instructions: 'Be kind.', input: 'Hi' })
    expect(said.output_text).toBe(tried.said)
    const streamed = await responses.create({ model: 'qwen', input: 'Hi', stream: true })
    let heard = ''
    for await (const event of streamed) if (event.type === 'response.output_text.delta') heard += event.delta
    expect(heard).toBe(tried.said)
    const models = await client(gateway).models.list()
    expect(models.data.map(({ id }) => id)).toEqual(['qwen'])

    await registry.rollBackCanary(canary.id, { reasons: ['by hand'] })
    const rolledBack = performance.now()
    await vi.waitUntil(async () => (await ask(gateway)).said === 'qwen: Be kind.', { interval: 20 })
    expect(performance.now() - rolledBack).toBeLessThan(1_000)
    await ask(gateway)
    expect(chats(server).at(-1)?.raw).toBe(chats(server)[0]?.raw)
  })

  it('is told to nobody', async () => {
    const { upstream } = await vllm()
    await registry.initial(agent, [...(await declared(upstream))])
    await tryOut(text('system', 'Be brief.'))
    const gateway = await start(upstream)
    const made = await fetch(`${gateway.url}/ratchet/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent }),
    })
    const { token } = (await made.json()) as { token: string }
    const { said, headers } = await ask(gateway, {}, { 'ratchet-key': token })
    expect(said).toBe('qwen: Be brief.')
    expect(headers.has('ratchet-release')).toBe(true)
    expect([headers.get('ratchet-canary'), headers.get('ratchet-generation')]).toEqual([null, null])
  })

  it('that cannot be served any more fails no request: sessions get the release, and it is told', async () => {
    const { server, upstream } = await vllm()
    const told = vi.fn<(told: unknown, what?: string) => void>()
    const gateway = await start(upstream, configOf(), { ...silent, error: told as Log['error'] })
    await tryOut(await adapted(upstream))
    await vi.waitUntil(async () => (await ask(gateway)).said?.startsWith('ratchet-'), { timeout: 10_000 })
    server.set({ models: ['qwen'], lora: undefined as never })
    for (const stream of [false, true]) {
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'ratchet-agent': agent },
        body: JSON.stringify({ ...body, stream }),
      })
      expect(response.status).toBe(200)
      const answered = await response.text()
      expect(answered).toContain(stream ? '[DONE]' : 'qwen: Be kind.')
      const id = response.headers.get('ratchet-trajectory') as TrajectoryId
      const { origin, decisions } = present(await store.trajectories.get(id), 'the trajectory').trajectory
      expect(origin).toMatchObject({ servedBy: { canary: { arm: 'candidate' } } })
      expect(decisions).toMatchObject([{ parameter: 'model', generation: 1 }])
      expect((await store.versions.get(decisions[0]!.version))?.value).toMatchObject({ adapter: null })
    }
    expect(told).toHaveBeenCalledWith(expect.anything(), expect.stringContaining('a candidate cannot be served'))
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).toContain('ratchet_candidate_fallbacks_total{agent="support"} 2')
  })

  it('whose weights nobody can serve gets no session at all', async () => {
    const { upstream } = await vllm({ lora: { maxRank: 2 } })
    const gateway = await start(upstream)
    await tryOut(await adapted(upstream))
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect((await ask(gateway)).said).toBe('qwen: Be kind.')
  })
})

async function declared(upstream: ChatUpstream): Promise<readonly Version[]> {
  const base = mintVersion('model', upstream.weights('qwen'), { parents: [], run: null })
  return [base, text('system', 'Be kind.'), text('tool-f', 'Does.')]
}

async function promoted(upstream: ChatUpstream, ...versions: Version[]): Promise<void> {
  const initial = await declared(upstream)
  await registry.initial(agent, initial)
  const before = setOf(...initial)
  const receipt = admissionOf(before, { ...before, ...setOf(...versions) })
  await registry.promote({ receipt, versions, run: null })
}

describe('a release', () => {
  it('with an adapter is loaded before anybody asks, and answers', async () => {
    const { server, upstream } = await vllm()
    await promoted(upstream, await adapted(upstream))
    const gateway = await start(upstream)
    expect(server.loads).toHaveLength(1)
    expect((await ask(gateway)).said).toMatch(/^ratchet-[0-9a-f]{24}: Be kind\.$/)
  })

  it('that no upstream will ever serve does not start the gateway; texts are served anywhere', async () => {
    const { server } = await vllm()
    const plain = openAiUpstream({ name: 'house', url: server.url })
    open.push(plain)
    await promoted(plain, text('system', 'Be brief.'))
    expect((await ask(await start(plain))).said).toBe('qwen: Be brief.')
    const weights = await adapted(plain)
    const { versions } = (await registry.current(agent)).release
    const receipt = admissionOf(versions, { ...versions, ...setOf(weights) })
    await registry.promote({ receipt, versions: [weights], run: null })
    await expect(start(plain)).rejects.toMatchObject({ code: 'model/adapter-not-served', kind: 'refused' })
  })

  it('whose adapter is gone fails its requests as a failure behind the gateway, and rolling back mends it', async () => {
    const { server, upstream } = await vllm()
    const other = await startUpstream({ models: ['qwen'] })
    open.push(other)
    const both = fallback([upstream, openAiUpstream({ name: 'spare', url: other.url })])
    open.push(both)
    await promoted(both, await adapted(both))
    const gateway = await start(both)
    await server.goAway()
    const failed = await client(gateway)
      .chat.completions.create(body)
      .catch((error: unknown) => error)
    // What the client is told names no adapter; the record does.
    expect(failed).toMatchObject({ status: 502, code: 'model/upstream-failed' })
    await registry.rollback(agent)
    await vi.waitUntil(async () => {
      const answered = await client(gateway)
        .chat.completions.create(body)
        .catch(() => null)
      return answered?.choices[0]?.message.content === 'You said: Hi'
    })
    expect(other.requests.at(-1)?.body?.model).toBe('qwen')
  })

  it('of the embedded engine answers with its adapter, and keeps exact tokens', async () => {
    const service = scriptedService(({ adapter }) => [adapter === null ? 'base' : `adapter ${adapter.id}`])
    const upstream = chatUpstream({ name: 'embedded', service, adapterBytes: (hash) => store.blobs.get(hash) })
    open.push(upstream)
    const config = configOf({
      agents: [{ name: agent, model: 'scripted', tenant: 'default' }],
      upstreams: [{ name: 'embedded', url: 'embedded' }],
    })
    const gateway = await start(upstream, config)
    const first = await ask(gateway, { model: 'scripted' })
    expect(first.said).toBe('base')
    const adapter = await store.blobs.put(Uint8Array.of(1, 2, 3))
    const weights = mintVersion('model', { ...upstream.weights('scripted'), adapter }, { parents: [], run: null })
    await tryOut(weights)
    const tried = await vi.waitUntil(async () => {
      const answer = await ask(gateway, { model: '/models/scripted' })
      return answer.said === 'adapter 3' ? answer : null
    })
    const { decisions, nodes } = await trajectoryOf(tried)
    expect(decisions).toMatchObject([{ version: weights.id, generation: 2 }])
    expect(nodes.at(-1)?.spans[0]).toMatchObject({ kind: 'sampled' })
  })
})

describe('an agent of the configuration', () => {
  it('that began in this store as another does not start the gateway, and is told what to do', async () => {
    const { upstream } = await vllm()
    await start(upstream)
    const agents = [{ name: agent, model: 'other', system: 'Be curt.', tools: { f: 'Does.' } }]
    await expect(start(upstream, configOf({ agents }))).rejects.toMatchObject({
      code: 'release/initial-changed',
      message: expect.stringContaining('model') as string,
    })
    const twice = [
      { name: agent, model: 'qwen' },
      { name: agent, model: 'llama' },
    ]
    await expect(start(upstream, configOf({ agents: twice }))).rejects.toMatchObject({ code: 'input/agent-twice' })
  })

  it('is of its tenant: releases go by both', async () => {
    const { upstream } = await vllm()
    const agents = [
      { name: agent, model: 'qwen' },
      { name: agent, tenant: 'acme', model: 'qwen', system: 'Be kind.' },
    ]
    await start(upstream, configOf({ agents }))
    expect((await store.releases.serving()).map((one) => one.agent).toSorted()).toEqual(['acme/support', 'support'])
  })
})
