import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newKey } from '../src/gateway/index.ts'
import { openStore } from '../src/store/index.ts'
import { type GatewayPlace, sqlitePlace } from './support/gateway-place.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { open, speak, statusesIn } from './support/gateway-raw.ts'
import { watching as watchingAt } from './support/healthz.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'
import { worstBodies } from './support/worst-bodies.mjs'

/** One request must not hurt anybody else: sent to a running `ratchet serve`. How long each stalls it: bench/gateway-stall.mjs. What is large: gateway-stall-large.test.ts. */

const mega = 2 ** 20
let upstream: Upstream
let place: GatewayPlace
let gateway: GatewayProcess
let url: string
let admin: string

beforeAll(async () => {
  upstream = await startUpstream({ models: ['scripted'] })
  place = sqlitePlace()
  const store = await openStore(place.location)
  const made = newKey({ name: 'admin', tenant: 'default', scopes: ['admin'], now: Date.now() })
  await store.keys.put(made.key)
  await store.close()
  admin = made.token
  const config = {
    upstreams: [{ name: 'scripted', url: upstream.url, retries: 0, tellsTokens: 'no' }],
    limits: { requestsPerMinute: 1_000_000 },
  }
  gateway = startGatewayProcess({ store: place.store, config, logLevel: 'error' })
  url = await gateway.listening
})
afterAll(async () => {
  killGateways()
  await gateway.ended
  await place.remove()
  await upstream.close()
})

async function post(path: string, body: string, token = admin): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

async function sessionKey(): Promise<string> {
  const { status, text } = await post('/ratchet/sessions', '{}')
  expect(status).toBe(201)
  return (JSON.parse(text) as { token: string }).token
}

const watching = <T>(what: string, work: () => Promise<T>) => watchingAt(url, what, work)

const list = (piece: string, count: number) => Array.from({ length: count }, () => piece).join(',')
const chat = (messages: string) => `{"model":"scripted","messages":[${messages}]}`

describe('one request', () => {
  it.each([
    ['14 MB of wrong messages', () => chat(list('1', 7 * mega)), 413],
    ['2 MB of wrong messages', () => chat(list('1', mega)), 413],
    ['as many wrong messages as may be', () => chat(list('1', 99_000)), 400],
    ['350,000 tiny messages', () => chat(list('{"role":"user","content":""}', 350_000)), 413],
    ['900,000 top-level keys', () => `{${Array.from({ length: 900_000 }, (_, i) => `"k${i}":1`).join(',')}}`, 413],
    ['4,096 tiny messages', () => chat(list('{"role":"user","content":""}', 4_096)), 200],
    [
      'calls of which each is looked for in the text',
      () => {
        const call = { id: 'a', type: 'function', function: { name: ')', arguments: ')'.repeat(50_000) } }
        const said = {
          role: 'assistant',
          content: ')'.repeat(8 * mega),
          tool_calls: Array.from({ length: 64 }, () => call),
        }
        return chat(`{"role":"user","content":"q"},${JSON.stringify(said)},{"role":"user","content":"q"}`)
      },
      200,
    ],
  ])('of %s, by the key of a session', async (what, body, expected) => {
    const token = await sessionKey()
    const before = gateway.memory().peak
    const text = body()
    const { status } = await watching(what, () => post('/v1/chat/completions', text, token))
    expect(status).toBe(expected)
    expect(gateway.memory().peak - before).toBeLessThan(700 * mega)
    expect(gateway.isAlive()).toBe(true)
  })

  it('with wrong entries by the hundred thousand, on every route', async () => {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as object
    const routes = worstBodies(document, { bytes: 2 * mega }).filter(({ route }) => !route.startsWith('/s/'))
    await watching('every route', async () => {
      for (const { path, bodies } of routes) {
        for (const { what, body } of bodies.filter((one) => /numbers, |empty objects, |keys, /.test(one.what))) {
          const { status, text } = await post(path, body())
          expect([200, 201, 400, 404, 409, 413], `${path} ${what}: ${text.slice(0, 300)}`).toContain(status)
        }
      }
    })
    expect(gateway.log).toEqual([])
  })
})

describe('the key of a session', () => {
  it('that sends 256 bodies by halves does not lock out its maker', async () => {
    const token = await sessionKey()
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\ncontent-length: 16000000\r\n\r\n{"model":`
    const sockets = Array.from({ length: 256 }, () => {
      const socket = open(url)
      socket.write(head)
      return socket
    })
    await delay(1_000)
    const answered = await post('/v1/chat/completions', chat('{"role":"user","content":"hi"}'))
    for (const socket of sockets) socket.destroy()
    expect(answered.status).toBe(200)
  })
})

describe('signals of a trajectory of many large ones', () => {
  it('end at a number of bytes, and come in pages', async () => {
    await post('/v1/chat/completions', chat('{"role":"user","content":"hi"}'))
    const session = 'crowded'
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${admin}`, 'ratchet-session': session }
    await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: chat('{"role":"user","content":"hi"}') })
    const statuses: number[] = []
    for (let i = 0; i < 12; i += 1) {
      const said = { session, name: `note${i}`, value: `${i}${'x'.repeat(900_000)}` }
      statuses.push((await post('/ratchet/signals', JSON.stringify(said))).status)
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(4)
    expect(statuses.at(-1)).toBe(429)
    const { trajectories } = (await (
      await fetch(`${url}/ratchet/trajectories?session=${session}`, { headers })
    ).json()) as { trajectories: { id: string }[] }
    const at = `${url}/ratchet/trajectories/${trajectories[0]?.id}/signals`
    const names: string[] = []
    let next: string | null = ''
    while (next !== null) {
      const page = (await (await fetch(`${at}?limit=3${next === '' ? '' : `&after=${next}`}`, { headers })).json()) as {
        signals: { name: string }[]
        next: string | null
      }
      names.push(...page.signals.map(({ name }) => name))
      next = page.next
    }
    expect(names).toEqual(['note0', 'note1', 'note2', 'note3'])
  })
})

describe('what comes back', () => {
  it('of trajectories is bounded: many large ones at once wait, or are told to come back', async () => {
    const session = 'large'
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${admin}`, 'ratchet-session': session }
    // The upstream says again what the user says last.
    const body = chat(`{"role":"system","content":"${'x '.repeat(6 * mega)}"},{"role":"user","content":"hi"}`)
    expect((await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).status).toBe(200)
    const list = await fetch(`${url}/ratchet/trajectories?session=${session}`, { headers })
    const { trajectories } = (await list.json()) as { trajectories: { id: string }[] }
    const before = gateway.memory().peak
    const ask = async () => {
      const response = await fetch(`${url}/ratchet/trajectories/${trajectories[0]?.id}`, { headers })
      await response.arrayBuffer()
      return response.status
    }
    const statuses = await watching('16 large trajectories', () => Promise.all(Array.from({ length: 16 }, ask)))
    expect(new Set(statuses)).toEqual(new Set([200, 429]))
    expect(gateway.memory().peak - before).toBeLessThan(1_500 * mega)
    // What they held is free again.
    expect(await ask()).toBe(200)
  })
})

describe('one connection', () => {
  it('that asks far ahead of its answers is closed', async () => {
    const ask = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'
    const some = await speak(url, [ask.repeat(10)], { until: (text) => statusesIn(text).length >= 10 })
    expect(statusesIn(some.text)).toEqual(Array.from({ length: 10 }, () => 200))
    const { text, end } = await watching('5,000 requests ahead', () => speak(url, [ask.repeat(5_000)]))
    expect(end).toBe('closed')
    expect(statusesIn(text).length).toBeLessThan(20)
  })

  it('whose body comes by the byte is refused, and its memory stays what it was', async () => {
    const token = await sessionKey()
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\ntransfer-encoding: chunked\r\n\r\n`
    const before = gateway.memory().peak
    const pieces = Array.from({ length: 200 }, () => '1\r\n \r\n'.repeat(5_000))
    const { text } = await watching('a million pieces', () =>
      speak(url, [head, ...pieces], { until: (said) => said.includes('too-many-pieces') }),
    )
    expect(statusesIn(text)[0]).toBe(413)
    expect(gateway.memory().peak - before).toBeLessThan(300 * mega)
  })
})

describe('a request on the wire', () => {
  const ask = (text: string) =>
    speak(url, [text], { until: (said) => /HTTP\/1\.[01] \d{3}/.test(said) && said.includes('\r\n\r\n') })

  it.each(['/v1/%2e%2e/ratchet/keys', '/v1/../ratchet/keys', '/v1/.%2E/healthz', '/./healthz'])(
    'with dot segments is refused: %s',
    async (path) => {
      const { text } = await ask(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
      expect(statusesIn(text)).toEqual([400])
      expect(text).toContain('gateway/bad-target')
    },
  )

  it('with a doubled header of ours is refused', async () => {
    const { text } = await ask(
      'GET /healthz HTTP/1.1\r\nhost: localhost\r\nratchet-session: a\r\nRatchet-Session: b\r\n\r\n',
    )
    expect(statusesIn(text)).toEqual([400])
    expect(text).toContain('gateway/bad-header')
  })

  it('of HTTP/1.0 without a host is told that the gateway is well', async () => {
    const { text } = await ask('GET /healthz HTTP/1.0\r\n\r\n')
    expect(text).toMatch(/^HTTP\/1\.[01] 200 /)
  })
})
