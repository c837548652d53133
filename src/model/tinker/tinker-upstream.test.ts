import { afterEach, describe, expect, it } from 'vitest'
import { type Fault, openTinkerServer, type SeenRequest } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import type { ChatUpstream } from '../../core/index.ts'
import { openTinkerModel } from './open-tinker-model.ts'
import { tinkerUpstream, type TinkerUpstreamOptions } from './tinker-upstream.ts'

const folder = tinyTokenizerFolder()
const limits = { retries: 1, baseDelayMs: 1, resultTimeoutMs: 2_000 }

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function open(fault: (request: SeenRequest) => Fault | undefined, options: Partial<TinkerUpstreamOptions> = {}) {
  const server = await openTinkerServer(fault)
  const upstream = await tinkerUpstream({
    name: 'there',
    open: async (signal) =>
      (await openTinkerModel({ url: server.url, baseModel: 'tiny', folder, limits, signal })).service,
    adapterBytes: () => Promise.reject(new Error('there are no bytes')),
    mostAdapters: 4,
    answerTimeoutMs: 5_000,
    reopenAfterMs: 0,
    ...options,
  })
  opened.push(server, upstream)
  return { server, upstream }
}

const ask = (upstream: ChatUpstream, more: object = {}, signal = new AbortController().signal) =>
  upstream.chat({
    request: { model: 'tiny', messages: [{ role: 'user', content: 'hello' }], max_tokens: 3, ...more },
    weights: null,
    history: null,
    authorization: null,
    signal,
  } as Parameters<ChatUpstream['chat']>[0])

/** Sampling in these sessions of a server is a 404. */
const lostSamplers =
  (...sessions: readonly number[]) =>
  ({ path, count }: SeenRequest): Fault | undefined =>
    path === '/asample' && sessions.includes(count)
      ? { kind: 'status', status: 404, body: { detail: 'Sampling session not found' } }
      : undefined

/** The server asks for patience. */
const patience: Fault = { kind: 'status', status: 429, headers: { 'retry-after-ms': '20' } }

const sessionsOf = (seen: readonly SeenRequest[]) => seen.filter(({ path }) => path === '/create_session').length

describe('a model at a Tinker server as an upstream', () => {
  it('answers whole and in a stream', async () => {
    const { upstream } = await open(() => undefined)
    expect(await ask(upstream)).toMatchObject({ kind: 'whole', upstream: 'there' })
    expect(await ask(upstream, { stream: true })).toMatchObject({ kind: 'stream', upstream: 'there' })
  })

  it('opens a session anew where the server has lost it, once for all that meet it', async () => {
    const { upstream, server } = await open(lostSamplers(0, 1))
    const replies = await Promise.all([ask(upstream), ask(upstream)])
    expect(replies.map(({ kind }) => kind)).toEqual(['whole', 'whole'])
    expect(sessionsOf(server.seen)).toBe(2)
  })

  it('opens none where one was opened a moment ago', async () => {
    const { upstream, server } = await open(lostSamplers(0), { reopenAfterMs: 60_000 })
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'broken', status: 404, upstream: 'there' })
    expect(sessionsOf(server.seen)).toBe(1)
    expect(await ask(upstream)).toMatchObject({ kind: 'whole' })
  })

  it('says that a server cannot be reached', async () => {
    const { upstream } = await open(({ path }) => (path === '/asample' ? { kind: 'unheard' } : undefined))
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'unreachable', code: 'model/upstream-unreachable' })
  })

  it.each(['/asample', '/create_sampling_session'])(
    'gives up what takes too long, also where the server asks for patience: %s',
    async (busy) => {
      const { upstream } = await open(({ path }) => (path === busy ? patience : undefined), { answerTimeoutMs: 200 })
      await expect(ask(upstream)).rejects.toMatchObject({ kind: 'timeout', code: 'model/upstream-timeout' })
    },
  )

  it('keeps its session where the server has lost weights', async () => {
    const { upstream, server } = await open(({ path }) =>
      path === '/weights_info' ? { kind: 'status', status: 404, body: { detail: 'no such checkpoint' } } : undefined,
    )
    const adapter = { at: 'trainer', uri: 'tinker://run/weights/gone' } as const
    const weights = { ...upstream.weights('tiny'), adapter }
    await expect(upstream.prepare('tiny', weights)).rejects.toMatchObject({ code: 'model/adapter-not-served' })
    expect(sessionsOf(server.seen)).toBe(1)
  })

  it('leaves a request to other upstreams where the server has the model no more', async () => {
    const { upstream } = await open((request) =>
      request.path === '/get_server_capabilities' && request.count > 0
        ? { kind: 'lie', say: () => ({ supported_models: [{ model_name: 'other' }] }) }
        : lostSamplers(0)(request),
    )
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'broken', upstream: 'there' })
  })

  it('ends a reopening when it is closed', async () => {
    const { upstream } = await open((request) =>
      request.path === '/create_session' && request.count > 0 ? patience : lostSamplers(0)(request),
    )
    const asked = expect(ask(upstream)).rejects.toMatchObject({ upstream: 'there' })
    await new Promise((resolve) => setTimeout(resolve, 100))
    await upstream.close()
    await asked
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'unreachable' })
  })

  it('says that whoever asked is gone', async () => {
    const slow: Fault = { kind: 'slow', milliseconds: 1_000 }
    const { upstream } = await open(({ path }) => (path === '/asample' ? slow : undefined))
    await expect(ask(upstream, {}, AbortSignal.timeout(50))).rejects.toMatchObject({ kind: 'cancelled' })
  })
})
