import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type GatewayPlace, sqlitePlace } from './support/gateway-place.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { speak, statusesIn } from './support/gateway-raw.ts'
import { watching } from './support/healthz.ts'

/** What is large on its way to or from the upstream must not hurt anybody else; in parts: src/gateway/episode/large.test.ts. */

const mega = 2 ** 20
let body = ''
let upstream: Server
let place: GatewayPlace
let gateway: GatewayProcess
let url: string

beforeAll(async () => {
  upstream = createServer((incoming, outgoing) => {
    incoming.resume()
    incoming.on('end', () => {
      const type = body.startsWith('data:') ? 'text/event-stream' : 'application/json'
      outgoing.writeHead(200, { 'content-type': type }).end(body)
    })
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const { port } = upstream.address() as AddressInfo
  place = sqlitePlace()
  const config = {
    upstreams: [{ name: 'large', url: `http://127.0.0.1:${port}/v1`, retries: 0, tellsTokens: 'no' }],
    redact: [{ name: 'slow', pattern: 'a*a*a*a*b' }],
  }
  gateway = startGatewayProcess({ store: place.store, config, logLevel: 'error' })
  url = await gateway.listening
})
afterAll(async () => {
  killGateways()
  await gateway.ended
  await place.remove()
  upstream.close()
})

async function post(path: string, said: object | string) {
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  })
  return { status: response.status, text: await response.text() }
}

const messages = [{ role: 'user', content: 'hi' }]
const head = { id: 'a', created: 1, model: 'm' }
const completion = (content: string) =>
  JSON.stringify({
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
  })
const event = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

it.each([
  ['of 30 MiB', 'x '.repeat(15 * mega)],
  ['of 15 million other letters', 'ж'.repeat(15 * mega)],
])('an answer %s', async (what, content) => {
  body = completion(content)
  const { status, text } = await watching(url, what, () => post('/v1/chat/completions', { model: 'm', messages }))
  expect(status).toBe(200)
  expect(text.length).toBeGreaterThan(content.length)
})

it('a stream of 28 MiB, the end of which tells it four times', async () => {
  body = `${event({ content: 'x '.repeat(mega / 2) }, null).repeat(28)}${event({}, 'stop')}data: [DONE]\n\n`
  const { status, text } = await watching(url, 'a stream', () =>
    post('/v1/responses', { model: 'm', input: 'hi', stream: true }),
  )
  expect(status).toBe(200)
  expect(text.length).toBeGreaterThan(5 * 28 * mega)
})

it('a body by the byte for a route that nobody has', async () => {
  const flood = [
    'POST /nowhere HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n',
    '1\r\n \r\n'.repeat(400_000),
  ]
  const { text } = await watching(url, 'a flood', () => speak(url, flood, { until: (said) => said.includes('}') }))
  expect(statusesIn(text)[0]).toBe(404)
})

it('a signal of eight million letters', async () => {
  const { status } = await watching(url, 'a signal', () =>
    post('/ratchet/signals', { session: 'a', name: 'thumbs', value: 'ж'.repeat(7_900_000) }),
  )
  expect(status).toBe(400)
})

it("texts on which a rule of the owner's own takes for ever: they are not written, and counted", async () => {
  body = completion('so it is')
  const hostile = Array.from({ length: 200 }, (_, i) => ({ role: 'user', content: `${i} ${'a'.repeat(10_000)}` }))
  const asked = { model: 'm', messages: hostile }
  const { status } = await watching(url, 'a slow rule', () => post('/v1/chat/completions', asked))
  expect(status).toBe(200)
  const { trajectories } = (await (await fetch(`${url}/ratchet/trajectories`)).json()) as {
    trajectories: { id: string; instruction: string }[]
  }
  expect(trajectories[0]?.instruction).toBe('[unread]')
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(Number(/^ratchet_unread_texts_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(3)
})
