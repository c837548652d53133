import { OpenAPIHono } from '@hono/zod-openapi'
import { afterEach, describe, expect, it } from 'vitest'
import { jsonOf } from '../../test/support/gateway-parts.ts'
import { listeningGateway, type ListeningGateway } from '../../test/support/listening-gateway.ts'
import { GatewayError } from './errors.ts'

let gateway: ListeningGateway
afterEach(() => gateway.close())

const ask = { model: 'scripted', messages: [{ role: 'user', content: 'hello' }] }

describe('models', () => {
  it('are listed, and told one by one', async () => {
    gateway = await listeningGateway({ upstream: { models: ['scripted', 'Qwen/Qwen3-4B'] } })
    const { models } = gateway.client('/s/x/v1')
    expect((await models.list()).data.map(({ id }) => id)).toEqual(['scripted', 'Qwen/Qwen3-4B'])
    expect(await models.retrieve('scripted')).toMatchObject({ object: 'model', owned_by: 'scripted' })
    expect((await fetch(`${gateway.url}/v1/models/Qwen/Qwen3-4B`)).status).toBe(200)
    expect(await models.retrieve('Qwen/Qwen3-4B')).toMatchObject({ id: 'Qwen/Qwen3-4B' })
    await expect(models.retrieve('other')).rejects.toMatchObject({ status: 404, code: 'gateway/no-such-model' })
  })

  it('cannot be told when the upstream is gone', async () => {
    gateway = await listeningGateway()
    await gateway.upstream.goAway()
    const response = await fetch(`${gateway.url}/v1/models`)
    expect(response.status).toBe(502)
    expect(await jsonOf(response)).toMatchObject({ error: { code: 'model/upstream-unreachable' } })
  })
})

describe('embeddings', () => {
  it('pass through, and are not recorded', async () => {
    gateway = await listeningGateway()
    const { data } = await gateway
      .client()
      .embeddings.create({ model: 'scripted', input: ['a', 'bc'], encoding_format: 'float' })
    expect(data).toHaveLength(2)
    expect(gateway.recorder.calls).toHaveLength(0)
    expect(gateway.telemetry.ends).toMatchObject([{ status: 200, committed: null }])
    expect(gateway.door.inside).toBe(0)
  })

  it('fail as the upstream does', async () => {
    gateway = await listeningGateway()
    gateway.upstream.fail('refused', 'server-error')
    expect((await gateway.post('/v1/embeddings', { model: 'scripted', input: 'a' })).status).toBe(400)
    expect((await gateway.post('/v1/embeddings', { model: 'scripted', input: 'a' })).status).toBe(502)
    expect((await gateway.post('/v1/embeddings', { input: 'a' })).status).toBe(400)
    expect(gateway.telemetry.ends).toMatchObject([{ status: 400 }, { status: 502 }])
  })
})

describe('who may not ask', () => {
  it('is told so in the shape that SDKs know', async () => {
    gateway = await listeningGateway()
    gateway.door.identify = () =>
      Promise.reject(
        new GatewayError({
          status: 401,
          type: 'authentication_error',
          code: 'gateway/no-key',
          message: 'No key.',
          hint: 'Send one.',
        }),
      )
    const refused = gateway.client().chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
    await expect(refused).rejects.toMatchObject({
      status: 401,
      code: 'gateway/no-key',
      type: 'authentication_error',
      message: '401 No key. Send one.',
    })
    expect(gateway.upstream.requests).toHaveLength(0)
  })

  it('is told when to come back', async () => {
    gateway = await listeningGateway()
    gateway.door.arrive = () => {
      throw new GatewayError({
        status: 429,
        type: 'rate_limit_error',
        code: 'gateway/rate-limit',
        message: 'Enough.',
        hint: 'Wait.',
        retryAfterSeconds: 6.2,
      })
    }
    const response = await gateway.post('/v1/chat/completions', ask)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('7')
  })
})

describe('the gateway', () => {
  it('describes all its routes, its guests, too', async () => {
    const guest = new OpenAPIHono()
    guest.openAPIRegistry.registerPath({
      method: 'get',
      path: '/healthz',
      responses: { 200: { description: 'Well.' } },
    })
    guest.get('/healthz', (c) => c.text('well'))
    gateway = await listeningGateway({ routes: [guest] })
    expect(await (await fetch(`${gateway.url}/healthz`)).text()).toBe('well')
    expect((await fetch(`${gateway.url}/healthz`, { method: 'POST' })).status).toBe(405)
    const document = await jsonOf(await fetch(`${gateway.url}/openapi.json`))
    expect(document).toEqual(JSON.parse(JSON.stringify(gateway.gateway.openapi())))
    const { paths } = document as { paths: Record<string, { post?: { requestBody: object; parameters: object[] } }> }
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining([
        '/v1/chat/completions',
        '/s/{session}/v1/chat/completions',
        '/v1/responses',
        '/v1/models',
        '/v1/models/{id}',
        '/v1/embeddings',
        '/healthz',
      ]),
    )
    const chat = paths['/s/{session}/v1/chat/completions']?.post
    expect(JSON.stringify(chat?.requestBody)).toContain('max_completion_tokens')
    expect(JSON.stringify(chat?.parameters)).toContain('ratchet-session')
  })

  it('says nothing of what failed unexpectedly, but to its log', async () => {
    const told: object[] = []
    const logger = { info: () => {}, warn: () => {}, error: (what: object) => told.push(what) }
    gateway = await listeningGateway({ logger })
    gateway.recorder.begin = () => Promise.reject(new Error('a secret'))
    const response = await gateway.post('/v1/chat/completions', ask)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret')
    expect(told).toMatchObject([{ err: { message: 'a secret' } }])
    expect(gateway.telemetry.ends).toMatchObject([{ status: 500 }])
    expect(gateway.door.inside).toBe(0)
  })

  it('answers without a server around it', async () => {
    gateway = await listeningGateway()
    const request = new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...ask, stream: true }),
    })
    const response = await gateway.gateway.fetch(request)
    expect(await response.text()).toMatch(/You[^]*said[^]*hello[^]*\[DONE\]/)
  })
})
