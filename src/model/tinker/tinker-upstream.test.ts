import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Fault, openTinkerServer, type SeenRequest } from '../../../test/support/tinker-server.ts'
import { tinyTokenizerFolder } from '../../../test/support/tiny-tokenizer.ts'
import type { ChatUpstream } from '../../core/index.ts'
import type { UpstreamError } from '../http/upstream-error.ts'
import { openTinkerModel, tinkerBase } from './open-tinker-model.ts'
import { tinkerUpstream, type TinkerUpstreamOptions } from './tinker-upstream.ts'

const folder = tinyTokenizerFolder()
const limits = { retries: 1, baseDelayMs: 1, resultTimeoutMs: 2_000 }

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

async function open(fault: (request: SeenRequest) => Fault | undefined, options: Partial<TinkerUpstreamOptions> = {}) {
  const server = await openTinkerServer(fault)
  opened.push(server)
  const told: (UpstreamError | null)[] = []
  const upstream = await tinkerUpstream({
    name: 'there',
    open: async (signal) =>
      (await openTinkerModel({ url: server.url, baseModel: 'tiny', folder, limits, signal })).service,
    base: () => tinkerBase({ baseModel: 'tiny', folder }),
    adapterBytes: () => Promise.reject(new Error('there are no bytes')),
    mostAdapters: 4,
    answerTimeoutMs: 5_000,
    reopenAfterMs: 0,
    // As long as a busy machine may take to open a session.
    openingWaitMs: 10_000,
    onOpening: (problem) => told.push(problem),
    ...options,
  })
  opened.push(upstream)
  return { server, upstream, told }
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

/** How long a busy machine may take to act. */
const patient = { timeout: 20_000, interval: 20 }

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

describe('a server that opens no session at the start', () => {
  /** What is wrong with every request until it is mended. */
  const until = (fault: Fault) => {
    const state: { fault: Fault | undefined } = { fault }
    return { mend: () => (state.fault = undefined), fault: () => state.fault }
  }
  const unavailable: Fault = { kind: 'status', status: 503, headers: { 'retry-after': '3600' } }

  it.each<[string, Fault, object]>([
    ['cannot be reached', { kind: 'unheard' }, { kind: 'unreachable', code: 'model/upstream-unreachable' }],
    ['asks for patience', patience, { kind: 'timeout', code: 'model/upstream-timeout' }],
    ['says 503 with a long Retry-After', unavailable, { kind: 'timeout', code: 'model/upstream-timeout' }],
    ['fails', { kind: 'status', status: 500 }, { kind: 'broken', code: 'model/upstream-failed', status: 500 }],
    ['is silent', { kind: 'slow', milliseconds: 3_000 }, { kind: 'timeout', code: 'model/upstream-timeout' }],
  ])('is asked again with a later request where it %s', async (_, fault, failure) => {
    const wrong = until(fault)
    // As long as a busy machine may take to open a session once it is mended.
    const { upstream, told } = await open(wrong.fault, { openTimeoutMs: 1_000 })
    expect(told).toMatchObject([{ ...failure, upstream: 'there', hint: expect.any(String) as string }])
    await expect(ask(upstream)).rejects.toMatchObject(failure)
    expect(told).toHaveLength(1)
    wrong.mend()
    expect(await ask(upstream)).toMatchObject({ kind: 'whole' })
    expect(told.slice(1)).toEqual([null])
  })

  it('keeps requests waiting only briefly while it holds back, and answers later ones once it is mended', async () => {
    const wrong: { fault: Fault | undefined } = { fault: { kind: 'unheard' } }
    const { upstream, server, told } = await open(() => wrong.fault, { openTimeoutMs: 60_000, openingWaitMs: 50 })
    wrong.fault = patience
    const known = { code: 'model/upstream-unreachable' }
    await Promise.all([expect(ask(upstream)).rejects.toMatchObject(known), expect(ask(upstream)).rejects.toBe(told[0])])
    expect(told).toHaveLength(1)
    wrong.fault = undefined
    await vi.waitFor(() => expect(told.slice(1)).toEqual([null]), patient)
    expect(await ask(upstream)).toMatchObject({ kind: 'whole' })
    expect(sessionsOf(server.seen)).toBe(1)
  })

  it('keeps requests waiting only briefly where a lost session was not replaced', async () => {
    const wrong: { fault: Fault | undefined } = { fault: undefined }
    const isOpening = ({ path }: SeenRequest) => path === '/get_server_capabilities' || path === '/create_session'
    const { upstream, told } = await open(
      (request) => (isOpening(request) ? wrong.fault : lostSamplers(0, 1)(request)),
      { openTimeoutMs: 60_000, openingWaitMs: 50 },
    )
    const known = { code: 'model/upstream-unreachable' }
    wrong.fault = { kind: 'unheard' }
    await expect(ask(upstream)).rejects.toMatchObject(known)
    wrong.fault = patience
    await expect(ask(upstream)).rejects.toBe(told[0])
    wrong.fault = undefined
    await vi.waitFor(() => expect(told.slice(1)).toEqual([null]), patient)
    expect(await ask(upstream)).toMatchObject({ kind: 'whole' })
  })

  it('tells how an opening ended that no request waits for', async () => {
    const wrong: { fault: Fault } = { fault: { kind: 'unheard' } }
    const { upstream, told } = await open(() => wrong.fault, { openTimeoutMs: 2_000, openingWaitMs: 50 })
    wrong.fault = patience
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'unreachable' })
    await vi.waitFor(() => expect(told.slice(1)).toMatchObject([{ kind: 'timeout' }]), patient)
  })

  it('ends an opening that no request waits for when it is closed', async () => {
    const wrong: { fault: Fault } = { fault: { kind: 'unheard' } }
    const { upstream, told } = await open(() => wrong.fault, { openTimeoutMs: 60_000, openingWaitMs: 50 })
    wrong.fault = patience
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'unreachable' })
    await upstream.close()
    expect(told).toHaveLength(1)
  })

  it('says why the server held it back', async () => {
    const busy: Fault = { ...patience, body: { detail: 'no room for this model' } } as Fault
    const { told } = await open(() => busy, { openTimeoutMs: 1_000 })
    expect(told[0]?.message).toContain('opened no session within 1000 ms')
    expect(told[0]?.message).toContain('no room for this model')
  })

  it('is not asked sooner than it is said, and by one request for all', async () => {
    const wrong = until({ kind: 'unheard' })
    const { upstream, server } = await open(wrong.fault, { reopenAfterMs: 1_000 })
    const asked = server.seen.length
    wrong.mend()
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'unreachable' })
    await expect(upstream.models({ authorization: null, signal: new AbortController().signal })).rejects.toThrow()
    expect(server.seen).toHaveLength(asked)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await Promise.all([ask(upstream), ask(upstream)])
    expect(sessionsOf(server.seen)).toBe(1)
  })

  it('keeps no agent from starting: what its weights are is known, and only adapters are not ready', async () => {
    const wrong = until({ kind: 'unheard' })
    const { upstream } = await open(wrong.fault)
    const weights = upstream.weights('tiny')
    await upstream.prepare('tiny', weights)
    const adapter = { at: 'trainer', uri: 'tinker://run/weights/one' } as const
    await expect(upstream.prepare('tiny', { ...weights, adapter })).rejects.toMatchObject({ kind: 'unreachable' })
    wrong.mend()
    await ask(upstream)
    expect(upstream.weights('tiny')).toEqual(weights)
  })

  it('tells what else is wrong, as soon as it answers', async () => {
    const wrong: { fault: Fault } = { fault: { kind: 'unheard' } }
    const { upstream, told } = await open(() => wrong.fault)
    wrong.fault = { kind: 'status', status: 401 }
    await expect(ask(upstream)).rejects.toMatchObject({ kind: 'broken', status: 401 })
    expect(told[1]?.message).toContain('401')
  })

  it.each<[string, Fault, string]>([
    ['refuses the key', { kind: 'status', status: 401 }, 'model/tinker-refused'],
    ['has another model', { kind: 'lie', say: () => ({ supported_models: [] }) }, 'model/tinker-base-model'],
    ['speaks something else', { kind: 'raw', text: '{}' }, 'model/tinker-malformed'],
  ])('is an error where it %s', async (_, fault, code) => {
    await expect(open(() => fault)).rejects.toMatchObject({ code })
  })

  it('is let go of when the upstream is closed', async () => {
    const { upstream } = await open(() => patience, { openTimeoutMs: 100 })
    const asked = expect(ask(upstream)).rejects.toMatchObject({ code: 'model/upstream-closed' })
    await upstream.close()
    await asked
  })

  it('keeps nobody waiting for what it holds back of an adapter', async () => {
    const { upstream } = await open(({ path }) => (path === '/weights_info' ? patience : undefined), {
      answerTimeoutMs: 200,
    })
    const adapter = { at: 'trainer', uri: 'tinker://run/weights/one' } as const
    const prepared = upstream.prepare('tiny', { ...upstream.weights('tiny'), adapter })
    await expect(prepared).rejects.toMatchObject({
      code: 'model/upstream-timeout',
      message: expect.stringContaining('within 200 ms') as string,
    })
  })
})
