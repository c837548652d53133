import { afterEach, describe, expect, it } from 'vitest'
import { nobody, startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { callOf, chunksOf, failureOf, textOf, until } from '../../../test/support/upstream/ask.ts'
import type { ChatUpstream } from '../../core/index.ts'
import { bounded } from './bounded.ts'
import { openAiUpstream, type OpenAiUpstreamOptions } from './open-ai-upstream.ts'
import { type RetryOptions, retrying } from './retrying.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function start(
  options: Partial<RetryOptions> = {},
  serving: UpstreamOptions = {},
  asked: Partial<OpenAiUpstreamOptions> = {},
): Promise<{ server: Upstream; upstream: ChatUpstream }> {
  const server = await startUpstream(serving)
  const one = openAiUpstream({ name: 'a', url: server.url, tellsTokens: 'no', ...asked })
  const upstream = retrying(one, { retries: 2, baseDelayMs: 1, ...options })
  open.push(upstream, server)
  return { server, upstream }
}

describe('tries again', () => {
  it.each([
    'reset',
    { kind: 'rate-limit', retryAfter: '0' },
    'overloaded',
    'server-error',
    'html-error',
    { kind: 'refused', status: 408 },
    { kind: 'refused', status: 409 },
    'broken-json',
    'wrong-type',
    'empty',
  ] as const)('after %j', async (fault) => {
    const { server, upstream } = await start()
    server.fail(fault, fault)
    expect(await textOf(upstream)).toBe('You said: hello there')
    expect(server.requests).toHaveLength(3)
  })

  it.each(['reset', 'overloaded', 'error-first', 'huge-line', 'empty'] as const)(
    'a stream, before its first chunk, after %s',
    async (fault) => {
      const { server, upstream } = await start()
      server.fail(fault)
      if (fault === 'huge-line') {
        expect(await failureOf(upstream.chat(callOf({ stream: true })))).toMatchObject({
          code: 'model/upstream-too-large',
        })
        expect(server.requests).toHaveLength(1)
        return
      }
      expect(await textOf(upstream, callOf({ stream: true }))).toBe('You said: hello there')
      expect(server.requests).toHaveLength(2)
    },
  )

  it('with the same request', async () => {
    const { server, upstream } = await start()
    server.fail('server-error')
    await textOf(upstream, callOf({ temperature: 0.7 }))
    expect(server.requests[1]?.raw).toBe(server.requests[0]?.raw)
  })

  it('embeddings and lists of models too', async () => {
    const { server, upstream } = await start()
    server.fail('server-error')
    expect(await upstream.embeddings({ ...callOf(), body: { model: 'scripted', input: 'x' } })).toHaveProperty('data')
    server.fail('server-error')
    expect(await upstream.models(callOf())).toHaveLength(1)
  })
})

describe('does not try again', () => {
  it('what is refused, ran out of time, or of quota', async () => {
    const { server, upstream } = await start({}, {}, { firstByteTimeoutMs: 500 })
    const quota = { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }
    server.fail('refused', 'unauthorized', 'not-found', 'hang')
    for (const kind of ['refused', 'refused', 'refused', 'timeout']) {
      expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind })
    }
    server.set({ refuse: () => ({ status: 429, body: quota }) })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'busy', body: quota })
    expect(server.requests).toHaveLength(5)
  })

  it('what has begun: the chunks that came stay, and the failure is told', async () => {
    const { server, upstream } = await start()
    server.fail('cut')
    const { chunks, failure } = await chunksOf(await upstream.chat(callOf({ stream: true })))
    expect(chunks).toHaveLength(3)
    expect(failure).toMatchObject({ kind: 'broken' })
    expect(server.requests).toHaveLength(1)
  })

  it('where the queue of Ratchet itself is full', async () => {
    const { server, upstream: one } = await start({ retries: 0 }, { delayMs: 100 })
    const upstream = retrying(bounded(one, { concurrency: 1, queue: 0 }), { retries: 5, baseDelayMs: 1 })
    const first = textOf(upstream)
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'busy', status: null })
    await first
    expect(server.requests).toHaveLength(1)
  })

  it('more often than it was told, and then tells the last failure', async () => {
    const { server, upstream } = await start({ retries: 3 })
    server.fail('server-error', 'server-error', 'server-error', 'overloaded')
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'busy', status: 503 })
    expect(server.requests).toHaveLength(4)
  })
})

describe('the wait', () => {
  it('doubles, is jittered in full, and has an end', async () => {
    const gone = openAiUpstream({ name: 'gone', url: await nobody() })
    open.push(gone)
    const drawn: number[] = []
    const random = (): number => {
      drawn.push(0)
      return 1
    }
    const since = performance.now()
    const upstream = retrying(gone, { retries: 4, baseDelayMs: 20, maxDelayMs: 50, random })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'unreachable' })
    // 20 + 40 + 50 + 50
    expect(performance.now() - since).toBeGreaterThan(155)
    expect(drawn).toHaveLength(4)
    const hasty = retrying(gone, { retries: 4, baseDelayMs: 1e6, maxDelayMs: 1e6, random: () => 0 })
    expect(await failureOf(hasty.chat(callOf()))).toMatchObject({ kind: 'unreachable' })
  })

  it('is as long as Retry-After asks', async () => {
    const { server, upstream } = await start()
    server.fail({ kind: 'rate-limit', retryAfter: '0.1' })
    const since = performance.now()
    expect(await textOf(upstream)).not.toBe('')
    expect(performance.now() - since).toBeGreaterThan(95)
  })

  it('is not made where Retry-After is longer than anyone waits: the client is told', async () => {
    const { server, upstream } = await start({ maxRetryAfterMs: 1_000 })
    server.fail({ kind: 'rate-limit', retryAfter: '30' })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'busy', retryAfterSeconds: 30 })
    expect(server.requests).toHaveLength(1)
  })

  it('ends when the client is gone', async () => {
    const { server, upstream } = await start({ baseDelayMs: 1e6, maxDelayMs: 1e6, random: () => 1 })
    server.fail('server-error')
    const controller = new AbortController()
    const failure = failureOf(upstream.chat(callOf({}, { signal: controller.signal })))
    await until(() => server.answered === 1)
    controller.abort()
    expect(await failure).toMatchObject({ kind: 'cancelled' })
    expect(server.requests).toHaveLength(1)
  })
})

it('is in all else what it wraps', async () => {
  const { upstream } = await start({}, { tellsTokens: true })
  expect(upstream.name).toBe('a')
  expect(upstream.weights('m')).toMatchObject({ base: 'a/m' })
  expect(upstream.tellsTokens).toBe(false)
})
