import { afterEach, describe, expect, it } from 'vitest'
import { startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { callOf, chunksOf, failureOf, textOf, until } from '../../../test/support/upstream/ask.ts'
import type { ChatUpstream } from '../../core/index.ts'
import { bounded, type BoundOptions } from './bounded.ts'
import { fallback } from './fallback.ts'
import { openAiUpstream } from './open-ai-upstream.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function start(
  bounds: BoundOptions,
  serving: UpstreamOptions = {},
): Promise<{ server: Upstream; upstream: ChatUpstream }> {
  const server = await startUpstream({ anyModel: true, ...serving })
  const upstream = bounded(openAiUpstream({ name: 'a', url: server.url, tellsTokens: 'no' }), bounds)
  open.push(upstream, server)
  return { server, upstream }
}

const tick = (milliseconds = 20) => new Promise((resolve) => setTimeout(resolve, milliseconds))
const models = ({ requests }: Upstream): (string | undefined)[] => requests.map(({ body }) => body?.model)

describe('a bound', () => {
  it('is never passed, nothing is lost, and who came first is served first', async () => {
    const { server, upstream: one } = await start({ concurrency: 100, queue: 0 }, { delayMs: 5 })
    let [now, most] = [0, 0]
    const counting: ChatUpstream = {
      ...one,
      chat: (call) => {
        most = Math.max(most, ++now)
        return one.chat(call).finally(() => now--)
      },
    }
    const upstream = bounded(counting, { concurrency: 2, queue: 10 })
    const asked = Array.from({ length: 12 }, (_, i) => `m${i}`)
    const texts = await Promise.all(asked.map((model) => textOf(upstream, callOf({ model }))))
    expect(texts).toEqual(asked.map(() => 'You said: hello there'))
    expect(most).toBe(2)
    // Two at a time may pass each other; more may not.
    for (const [i, model] of models(server).entries()) {
      expect(Math.abs(asked.indexOf(model ?? '') - i)).toBeLessThan(2)
    }
  })

  it('counts a stream until it ends', async () => {
    const { server, upstream } = await start({ concurrency: 1, queue: 5 })
    const reply = await upstream.chat(callOf({ stream: true }))
    const next = textOf(upstream, callOf({ model: 'next' }))
    await tick()
    expect(server.requests).toHaveLength(1)
    const other = bounded(upstream, { concurrency: 1, queue: 0 })
    const load = () => [upstream, fallback([upstream, { ...other, name: 'b' }])].map((one) => one.load?.())
    const busy = { upstream: 'a', active: 1, waiting: 1 }
    expect(load()).toEqual([[busy], [busy, { upstream: 'a', active: 0, waiting: 0 }]])
    expect((await chunksOf(reply)).failure).toBeNull()
    expect(await next).not.toBe('')
    expect(load()[0]).toEqual([{ upstream: 'a', active: 0, waiting: 0 }])
  })

  it.each([
    ['fails', async (reply) => void (await chunksOf(reply))],
    [
      'is left early',
      async (reply) => {
        if (reply.kind === 'stream') for await (const _ of reply.chunks) break
      },
    ],
    ['is cancelled, though nobody reads it', async (_, controller) => controller.abort()],
  ] satisfies [string, (reply: Awaited<ReturnType<ChatUpstream['chat']>>, gone: AbortController) => Promise<void>][])(
    'frees the place of a stream that %s',
    async (_, end) => {
      const { server, upstream } = await start({ concurrency: 1, queue: 5 })
      server.fail('cut')
      const controller = new AbortController()
      const reply = await upstream.chat(callOf({ stream: true }, { signal: controller.signal }))
      const next = textOf(upstream, callOf())
      await end(reply, controller)
      expect(await next).toBe('You said: hello there')
      expect(await textOf(upstream)).toBe('You said: hello there')
    },
  )

  it('frees the place of a call that fails, and of embeddings', async () => {
    const { server, upstream } = await start({ concurrency: 1, queue: 0 })
    server.fail('server-error', 'server-error')
    await failureOf(upstream.chat(callOf()))
    await failureOf(upstream.embeddings({ ...callOf(), body: { input: 'x' } }))
    await upstream.embeddings({ ...callOf(), body: { input: 'x' } })
    expect(await textOf(upstream)).not.toBe('')
  })

  it('gives a place up once, however often a stream ends', async () => {
    const { server, upstream } = await start({ concurrency: 1, queue: 5 })
    const controller = new AbortController()
    const reply = await upstream.chat(callOf({ stream: true }, { signal: controller.signal }))
    await chunksOf(reply)
    await chunksOf(reply)
    controller.abort()
    const waiting = [1, 2].map((i) => upstream.chat(callOf({ model: `fault:hang`, user: `${i}` })).catch(() => null))
    await until(() => server.requests.length === 2)
    await tick()
    expect(server.requests).toHaveLength(2)
    await upstream.close()
    await Promise.all(waiting)
  })

  it('does not hold lists of models', async () => {
    const { upstream } = await start({ concurrency: 1, queue: 0 })
    const reply = await upstream.chat(callOf({ stream: true }))
    expect(await upstream.models(callOf())).toHaveLength(1)
    await chunksOf(reply)
  })
})

describe('the queue', () => {
  it('that is full says when to come back, and takes calls again when there is room', async () => {
    const { server, upstream } = await start({ concurrency: 1, queue: 1 }, { delayMs: 50 })
    const [first, second] = [textOf(upstream), textOf(upstream)]
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({
      kind: 'busy',
      code: 'model/upstream-queue-full',
      status: null,
      retryAfterSeconds: expect.toSatisfy(
        (seconds: number) => Number.isInteger(seconds) && seconds >= 1 && seconds <= 60,
      ),
    })
    await Promise.all([first, second])
    expect(await textOf(upstream)).not.toBe('')
    expect(server.requests).toHaveLength(3)
  })

  it('is left by a call that is cancelled, and those behind it move up', async () => {
    const { server, upstream } = await start({ concurrency: 1, queue: 2 })
    const reply = await upstream.chat(callOf({ stream: true }))
    const controller = new AbortController()
    const gone = failureOf(upstream.chat(callOf({ model: 'gone' }, { signal: controller.signal })))
    const next = textOf(upstream, callOf({ model: 'next' }))
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'busy' })
    controller.abort()
    expect(await gone).toMatchObject({ kind: 'cancelled' })
    const later = textOf(upstream, callOf({ model: 'later' }))
    await chunksOf(reply)
    await Promise.all([next, later])
    expect(models(server)).toEqual(['scripted', 'next', 'later'])
  })

  it('is not entered by who is gone already', async () => {
    const { server, upstream } = await start({ concurrency: 1, queue: 2 })
    const call = callOf({}, { signal: AbortSignal.abort() })
    expect(await failureOf(upstream.chat(call))).toMatchObject({ kind: 'cancelled' })
    expect(server.connections).toBe(0)
  })
})
