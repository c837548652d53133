import { afterEach, describe, expect, it } from 'vitest'
import { nobody, startUpstream, type Upstream, type UpstreamOptions } from '../../../test/support/upstream-server.mjs'
import { callOf, chunksOf, failureOf, textOf, until } from '../../../test/support/upstream/ask.ts'
import type { ChatUpstream } from '../../core/index.ts'
import { fallback } from './fallback.ts'
import { openAiUpstream, type OpenAiUpstreamOptions } from './open-ai-upstream.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

async function one(
  name: string,
  serving: UpstreamOptions = {},
  options: Partial<OpenAiUpstreamOptions> = {},
): Promise<{ server: Upstream; upstream: ChatUpstream }> {
  const server = await startUpstream({ say: () => `${name} speaks`, ...serving })
  const upstream = openAiUpstream({ name, url: server.url, tellsTokens: 'no', ...options })
  open.push(upstream, server)
  return { server, upstream }
}

describe('the next upstream answers', () => {
  it.each([
    'reset',
    'hang',
    'rate-limit',
    'overloaded',
    'server-error',
    'html-error',
    'wrong-type',
    'not-found',
    'empty',
  ] as const)('after "%s" of the first, streaming and not', async (fault) => {
    for (const stream of [false, true]) {
      const a = await one('a', {}, fault === 'hang' ? { firstByteTimeoutMs: 100 } : {})
      const b = await one('b')
      // A 500 may be the fault of the usage that was asked for beside: the first is asked once more without.
      a.server.fail(fault, fault)
      const upstream = fallback([a.upstream, b.upstream])
      const reply = await upstream.chat(callOf({ stream }))
      expect(reply.upstream).toBe('b')
      expect(b.server.requests).toHaveLength(1)
    }
  })

  it('where the first is not there at all', async () => {
    const gone = openAiUpstream({ name: 'gone', url: await nobody() })
    const b = await one('b')
    open.push(gone)
    expect(await textOf(fallback([gone, b.upstream]))).toBe('b speaks')
  })

  it('where the first’s own key is refused', async () => {
    const a = await one('a', { apiKey: 'right' }, { key: 'wrong' })
    const b = await one('b')
    expect(await textOf(fallback([a.upstream, b.upstream]))).toBe('b speaks')
  })

  it('for embeddings', async () => {
    const [a, b] = [await one('a'), await one('b')]
    a.server.fail('server-error')
    const upstream = fallback([a.upstream, b.upstream])
    expect(await upstream.embeddings({ ...callOf(), body: { model: 'm', input: 'x' } })).toHaveProperty('data')
    expect(b.server.requests).toHaveLength(1)
  })
})

describe('the first upstream’s failure stands', () => {
  it('when it refuses the request, or whoever asks', async () => {
    const a = await one('a')
    const b = await one('b', {}, { key: 'b-own-key' })
    const upstream = fallback([a.upstream, b.upstream])
    a.server.fail('refused', 'unauthorized')
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'refused', status: 400, upstream: 'a' })
    expect(await failureOf(upstream.chat(callOf()))).toMatchObject({ kind: 'refused', status: 401, upstream: 'a' })
    expect(b.server.requests).toHaveLength(0)
  })

  it('when the client is gone', async () => {
    const [a, b] = [await one('a'), await one('b')]
    a.server.fail('hang')
    const controller = new AbortController()
    const failure = failureOf(fallback([a.upstream, b.upstream]).chat(callOf({}, { signal: controller.signal })))
    await until(() => a.server.requests.length === 1)
    controller.abort()
    expect(await failure).toMatchObject({ kind: 'cancelled' })
    expect(b.server.requests).toHaveLength(0)
  })

  it('when its answer has begun', async () => {
    const [a, b] = [await one('a'), await one('b')]
    a.server.fail('cut')
    const reply = await fallback([a.upstream, b.upstream]).chat(callOf({ stream: true }))
    expect(reply.upstream).toBe('a')
    expect((await chunksOf(reply)).failure).toMatchObject({ kind: 'broken', upstream: 'a' })
    expect(b.server.requests).toHaveLength(0)
  })
})

describe('when all fail', () => {
  it.each([
    ['not-found', 'server-error', 'server-error', { status: 500, upstream: 'c' }],
    ['server-error', 'not-found', 'not-found', { status: 500, upstream: 'a' }],
    ['not-found', 'overloaded', 'not-found', { status: 503, upstream: 'b' }],
    ['not-found', 'not-found', 'not-found', { status: 404 }],
  ] as const)('with %s, %s and %s', async (first, second, third, expected) => {
    const all = [await one('a'), await one('b'), await one('c')]
    for (const [i, fault] of [first, second, third].entries()) all[i]?.server.fail(fault)
    expect(await failureOf(fallback(all.map(({ upstream }) => upstream)).chat(callOf()))).toMatchObject(expected)
  })
})

describe('several as one', () => {
  it('know whose weights answered', async () => {
    const [a, b] = [await one('a'), await one('b')]
    const upstream = fallback([a.upstream, b.upstream])
    expect(upstream.name).toBe('a, b')
    expect(upstream.weights('m', 'b').base).toBe('b/m')
    expect(upstream.weights('m', 'a').base).toBe('a/m')
    expect(upstream.weights('m').base).toBe('a/m')
  })

  it('list the models of all, each once, as the first has it; of those that answer', async () => {
    const [a, b] = [await one('a', { models: ['x', 'y'] }), await one('b', { models: ['y', 'z'] })]
    const upstream = fallback([a.upstream, b.upstream])
    expect((await upstream.models(callOf())).map(({ id }) => id)).toEqual(['x', 'y', 'z'])
    a.server.fail('server-error')
    expect((await upstream.models(callOf())).map(({ id }) => id)).toEqual(['y', 'z'])
    a.server.fail('overloaded')
    b.server.fail('server-error')
    expect(await failureOf(upstream.models(callOf()))).toMatchObject({ status: 503 })
  })

  it('tell tokens when one does', async () => {
    const a = await one('a')
    const b = await one('b', {}, { tellsTokens: 'yes' })
    expect(fallback([a.upstream, b.upstream]).tellsTokens).toBe(true)
  })

  it('one alone is itself; none, or two of one name, are refused', async () => {
    const { upstream } = await one('a')
    expect(fallback([upstream])).toBe(upstream)
    const refused = expect.objectContaining({ code: 'input/upstreams' })
    expect(() => fallback([])).toThrow(refused)
    expect(() => fallback([upstream, upstream])).toThrow(refused)
  })
})
