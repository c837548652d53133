import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Trajectory } from '../src/core/index.ts'
import { newKey, trajectoryOfSession } from '../src/gateway/index.ts'
import { openStore } from '../src/store/index.ts'
import { allTrajectories, type GatewayPlace, reading, sqlitePlace } from './support/gateway-place.ts'
import { type GatewayProcess, killGateways, startGatewayProcess } from './support/gateway-process.ts'
import { open, request, speak, statusesIn } from './support/gateway-raw.ts'
import { startUpstream, type Upstream } from './support/upstream-server.mjs'

const chat = '/v1/chat/completions'
const mega = 2 ** 20
const many = 1_000_000

let upstream: Upstream
let place: GatewayPlace
let gateway: GatewayProcess
let url: string
const others: { readonly place: GatewayPlace; readonly process: GatewayProcess }[] = []

const configured = (more: object = {}) => ({
  upstreams: [{ name: 'scripted', url: upstream.url, retries: 0, tellsTokens: 'no', maxAnswerBytes: 64 * mega }],
  limits: { requestsPerMinute: many },
  journalMs: 100,
  ...more,
})

async function another(config: object, before: readonly string[] = [], at = sqlitePlace()): Promise<GatewayProcess> {
  const process = startGatewayProcess({ store: at.store, config, before, logLevel: 'error' })
  others.push({ place: at, process })
  await process.listening
  return process
}

beforeAll(async () => {
  upstream = await startUpstream({ models: ['scripted', 'fault:huge', 'fault:hang'] })
  place = sqlitePlace()
  gateway = startGatewayProcess({ store: place.store, config: configured(), logLevel: 'error' })
  url = await gateway.listening
})
afterAll(async () => {
  killGateways()
  await Promise.all([gateway.ended, ...others.map(({ process }) => process.ended)])
  for (const one of [place, ...others.map(({ place }) => place)]) await one.remove()
  await upstream.close()
})

const bodyOf = (text: string, more: object = {}) =>
  JSON.stringify({ model: 'scripted', messages: [{ role: 'user', content: text }], ...more })

/** One ordinary call, which must be answered whatever else goes on. */
async function expectServed(at = url, headers: Record<string, string> = {}): Promise<void> {
  const said = `hello ${randomUUID()}`
  const response = await fetch(`${at}${chat}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: bodyOf(said),
    signal: AbortSignal.timeout(60_000),
  })
  expect(await response.text()).toContain(`You said: ${said}`)
  expect(response.status).toBe(200)
}

/** What was recorded of a session; `null` while nothing is. */
async function recorded(session: string): Promise<Trajectory | null> {
  const id = trajectoryOfSession('default', session)
  return reading(place, async (store) => (await store.trajectories.get(id))?.trajectory ?? null)
}

const endOf = async (session: string) => (await recorded(session))?.stopReason ?? null

describe('clients that read slowly', () => {
  it('50 of them hold their upstreams back, not the memory of the gateway', async () => {
    const before = gateway.memory().now
    const abandoned = upstream.abandoned
    const sockets: Socket[] = []
    let read = 0
    for (let i = 0; i < 50; i++) {
      const socket = open(url)
      sockets.push(socket)
      socket.on('data', (bytes) => {
        read += bytes.length
        socket.pause()
        setTimeout(() => socket.resume(), 500)
      })
      const body = bodyOf('all of it', { model: 'fault:huge', stream: true })
      socket.write(request('POST', chat, body, `ratchet-session: slow ${i}`))
    }
    await expect.poll(() => read, { timeout: 60_000 }).toBeGreaterThan(50 * 100_000)
    await delay(5_000)
    await expectServed()
    const { now, peak } = gateway.memory()
    console.log(
      `50 slow readers of 50 MB each, who have read ${Math.round(read / mega)} MB: ${Math.round(before / mega)} MB before, ${Math.round(now / mega)} MB now, ${Math.round(peak / mega)} MB at the most`,
    )
    // Without holding back it would be 2.5 GB of answers, and as much that waits to be sent.
    expect(peak - before).toBeLessThan(1_500 * mega)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => upstream.abandoned - abandoned, { timeout: 30_000 }).toBe(50)
    for (let i = 0; i < 50; i++) {
      await expect.poll(() => endOf(`slow ${i}`), { timeout: 60_000 }).toBe('cancelled')
      const said = (await recorded(`slow ${i}`))?.nodes.at(-1)?.message.content.length ?? 0
      // What the sockets on the way hold.
      expect(said).toBeLessThan(25 * mega)
    }
    await expectServed()
  })
})

describe('clients that go away', () => {
  const client = () => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 })
  const ask = (model: string) => ({ model, messages: [{ role: 'user' as const, content: 'one two three four five' }] })

  it.each([true, false])(
    'before a word was said: the upstream is cancelled, and that is recorded (stream: %s)',
    async (stream) => {
      const session = randomUUID()
      const aborting = new AbortController()
      const abandoned = upstream.abandoned
      const asked = upstream.requests.length
      const call = client().chat.completions.create(
        { ...ask('fault:hang'), stream },
        { signal: aborting.signal, headers: { 'ratchet-session': session } },
      )
      await expect.poll(() => upstream.requests.length).toBeGreaterThan(asked)
      const left = performance.now()
      aborting.abort()
      await expect(call).rejects.toThrow()
      await expect.poll(() => upstream.abandoned, { timeout: 10_000, interval: 5 }).toBe(abandoned + 1)
      console.log(`the upstream was cancelled after ${Math.round(performance.now() - left)} ms`)
      await expect.poll(() => endOf(session), { timeout: 10_000 }).toBe('cancelled')
      expect(await recorded(session)).toMatchObject({
        failure: null,
        steps: [],
        nodes: [{ message: { role: 'user' } }],
      })
    },
  )

  it('midway: the upstream is cancelled, and what came is kept', async () => {
    upstream.set({ chunkDelayMs: 100 })
    const session = randomUUID()
    const abandoned = upstream.abandoned
    const stream = await client().chat.completions.create(
      { ...ask('scripted'), stream: true },
      { headers: { 'ratchet-session': session } },
    )
    let text = ''
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      if (text.includes('two')) break
    }
    const left = performance.now()
    await expect.poll(() => upstream.abandoned, { timeout: 10_000, interval: 5 }).toBe(abandoned + 1)
    console.log(`the upstream was cancelled after ${Math.round(performance.now() - left)} ms`)
    upstream.set({ chunkDelayMs: 0 })
    await expect.poll(() => endOf(session), { timeout: 10_000 }).toBe('cancelled')
    const kept = await recorded(session)
    const said = kept?.nodes.at(-1)?.message.content ?? ''
    expect(said.startsWith(text)).toBe(true)
    expect('You said: one two three four five'.startsWith(said)).toBe(true)
    expect(kept?.steps).toMatchObject([{ call: { finish: null } }])
  })

  it('100 at once, in every phase: nothing is left of them', async () => {
    upstream.set({ chunkDelayMs: 20 })
    const files = gateway.openFiles()
    const leave = async (i: number) => {
      const socket = open(url)
      const whole = request('POST', chat, bodyOf('some words that take a while', { stream: i % 2 === 0 }))
      // In their headers, in their body, before the answer, and in it.
      socket.write(whole.slice(0, i % 4 === 0 ? 40 : i % 4 === 1 ? whole.length - 10 : whole.length))
      await delay(Math.random() * 300)
      if (i % 3 === 0) socket.resetAndDestroy()
      else socket.destroy()
    }
    await Promise.all(Array.from({ length: 100 }, (_, i) => leave(i)))
    upstream.set({ chunkDelayMs: 0 })
    await expect.poll(() => inFlight(url), { timeout: 30_000 }).toBe(0)
    await expect.poll(() => gateway.openFiles() - files, { timeout: 30_000 }).toBeLessThan(40)
    await expectServed()
  })
})

/** Calls that the gateway thinks are under way. */
async function inFlight(at: string): Promise<number> {
  const text = await (await fetch(`${at}/metrics`)).text()
  const counts = [...text.matchAll(/^ratchet_calls_in_flight\{[^}]*\} (\d+)$/gm)].map(([, count]) => Number(count))
  return counts.reduce((sum, count) => sum + count, 0)
}

describe('bodies', () => {
  const zeros = Buffer.alloc(64 * 1024, '0')
  function* chunks(count: number) {
    yield request('POST', chat, '', 'content-type: application/json', 'transfer-encoding: chunked')
    for (let i = 0; i < count; i++) {
      yield `${zeros.length.toString(16)}\r\n`
      yield zeros
      yield '\r\n'
    }
    yield '0\r\n\r\n'
  }
  function* plain(count: number) {
    yield `POST ${chat} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${count * zeros.length}\r\n\r\n`
    for (let i = 0; i < count; i++) yield zeros
  }

  it('of 100 MB are refused, with their length or without, many at once; memory stays bounded', async () => {
    const before = gateway.memory().peak
    // A connection that brings all of its body within half a second after the refusal is kept: it answers the next request.
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        speak(url, [
          ...(i % 2 === 0 ? chunks(1_600) : plain(1_600)),
          request('GET', '/healthz', '', 'connection: close'),
        ]),
      ),
    )
    for (const { text, end } of answers) {
      expect(end).toBe('closed')
      const [refused, next = 200, ...more] = statusesIn(text)
      if (refused !== undefined) expect([413, 429]).toContain(refused)
      expect([next, ...more]).toEqual([200])
    }
    expect(answers.filter(({ text }) => text.includes('gateway/body-too-large')).length).toBeGreaterThan(0)
    expect(gateway.memory().peak - before).toBeLessThan(600 * mega)
    await expectServed()
  })

  it.each([chat, '/v1/responses', '/v1/embeddings', '/ratchet/signals', '/ratchet/sessions'])(
    'of 100 000 levels, that are no UTF-8, or no JSON: %s',
    async (path) => {
      const deep = [
        '['.repeat(100_000),
        `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
        `{"model":"scripted","messages":${'[{"a":'.repeat(100_000)}`,
        `{"model":"scripted","messages":[{"role":"user","content":"x"}],"metadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      ]
      const broken = [
        '{"model":"\xff\xfe"}',
        '\xc3\x28',
        '\xed\xa0\x80',
        '{"model"',
        '\x00',
        'null',
        '[]',
        '1e999',
        '"x"',
        '{}{}',
      ]
      for (const body of [...deep, ...broken]) {
        const { text } = await speak(url, [request('POST', path, body)], { until: (text) => text.includes('"error"') })
        const [status = 0] = statusesIn(text)
        expect([400, 401, 403], `${path} ${body.slice(0, 60)}: ${text}`).toContain(status)
        expect(text).toMatch(/"code":"gateway\//)
      }
      await expectServed()
    },
  )
})

describe('connections', () => {
  const ok = (count: number) => ({ until: (text: string) => statusesIn(text).length >= count })

  it('with several requests at once are answered in their order, up to where garbage begins', async () => {
    const calls = ['first', 'second', 'third'].map((word) => request('POST', chat, bodyOf(word)))
    const three = await speak(url, [calls.join('')], { until: (text) => text.includes('You said: third') })
    expect(statusesIn(three.text)).toEqual([200, 200, 200])
    expect([...three.text.matchAll(/You said: (\w+)/g)].map(([, word]) => word)).toEqual(['first', 'second', 'third'])
    const then = await speak(url, [`${request('GET', '/healthz')}\x00\x01 nonsense \xff\r\n\r\n`])
    expect(then.end).toBe('closed')
    // Node answers the garbage at once, whoever is still being answered before it.
    for (const status of statusesIn(then.text)) expect([200, 400]).toContain(status)
    expect(statusesIn(then.text).at(-1)).toBe(400)
    await expectServed()
  })

  it.each([
    [
      'a length and chunks',
      'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
    ],
    ['two lengths', 'content-length: 5\r\ncontent-length: 6\r\n\r\nhello!'],
    ['a length that is none', 'content-length: -1\r\n\r\n'],
    ['a chunk that is none', 'transfer-encoding: chunked\r\n\r\nzz\r\n'],
    ['a folded header', 'ratchet-session: a\r\n b\r\ncontent-length: 0\r\n\r\n'],
    ['a control character in a header', 'ratchet-session: a\x00b\r\ncontent-length: 0\r\n\r\n'],
    ['a bare line feed in a header', 'ratchet-session: a\nset-cookie: b\r\n\r\n'],
    ['a header without a name', ': value\r\n\r\n'],
    ['40 kB of headers', `x: ${'y'.repeat(40_000)}\r\n\r\n`],
    ['an encoding of the transfer that nobody knows', 'transfer-encoding: rot13\r\n\r\n'],
  ])('that are not HTTP are closed: %s', async (_, rest) => {
    const { text, end } = await speak(url, [`POST ${chat} HTTP/1.1\r\nhost: localhost\r\n${rest}`], {
      until: (text) => statusesIn(text).length > 0,
    })
    expect(end).not.toBe('late')
    for (const status of statusesIn(text)) expect([400, 413, 431], text).toContain(status)
    await expectServed()
  })

  it('5 000 headers, and bytes of chance', async () => {
    const headers = Array.from({ length: 5_000 }, (_, i) => `x${i}: y`)
    const crowded = await speak(url, [request('GET', '/healthz', '', ...headers)], ok(1))
    expect([200, 431]).toContain(statusesIn(crowded.text)[0])
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        const bytes = Buffer.from(Array.from({ length: 400 }, () => Math.floor(Math.random() * 256)))
        const { text } = await speak(url, [bytes, '\r\n\r\n'], ok(1))
        for (const status of statusesIn(text)) expect(status).toBe(400)
      }),
    )
    // What a TLS client says first.
    const hello = await speak(url, [Buffer.from('16030100c8010000c40303', 'hex'), '\r\n\r\n'], ok(1))
    expect(hello.end).not.toBe('late')
    await expectServed()
  })

  it('whose headers never end are let go, and keep nobody out meanwhile', async () => {
    const sockets = Array.from({ length: 300 }, () => open(url))
    let closed = 0
    for (const socket of sockets) {
      socket.on('close', () => (closed += 1)).resume()
      socket.write(`POST ${chat} HTTP/1.1\r\nhost: localhost\r\n`)
    }
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x: y\r\n')
    }, 500)
    try {
      for (let i = 0; i < 5; i++) await expectServed()
      await expect.poll(() => closed, { timeout: 90_000 }).toBe(300)
    } finally {
      clearInterval(drip)
      for (const socket of sockets) socket.destroy()
    }
  })

  it('as many as there may be: each is served or told to come back', async () => {
    const limit = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).replace('unlimited', '1e9'))
    const count = Math.min(10_000, limit - 500)
    const crowded = await another(configured({ limits: { requestsPerMinute: 3_000, concurrency: 64 } }))
    const at = await crowded.listening
    const statuses = new Map<number | string, number>()
    const sockets: Socket[] = []
    const ask = request('POST', chat, bodyOf('one of very many'))
    const one = () =>
      new Promise<void>((resolve) => {
        const socket = open(at)
        sockets.push(socket)
        let text = ''
        let told = false
        const tell = (outcome: number | string) => {
          if (!told) statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
          told = true
          resolve()
        }
        socket.on('data', (bytes) => {
          text += bytes.toString('latin1')
          const [status] = statusesIn(text)
          if (status !== undefined && text.includes('\r\n\r\n')) tell(status)
        })
        socket.on('close', () => tell('closed'))
        socket.write(ask)
      })
    for (let begun = 0; begun < count; begun += 500) {
      // All stay open; the backlog of the port is not what is tried here.
      await Promise.all(Array.from({ length: Math.min(500, count - begun) }, one))
    }
    console.log(`${count} connections: ${JSON.stringify([...statuses])}`)
    expect(new Set(statuses.keys())).toEqual(new Set([200, 429]))
    expect(crowded.isAlive()).toBe(true)
    expect((await fetch(`${at}/healthz`)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => crowded.openFiles(), { timeout: 60_000 }).toBeLessThan(200)
    await expect
      .poll(async () => (await fetch(`${at}${chat}`, post(bodyOf('now')))).status, { timeout: 60_000 })
      .toBe(200)
    expect(crowded.log).toEqual([])
  })

  it('more than it may have files open: it lives, and goes on when they are gone', async () => {
    const poor = await another(configured(), ['sh', '-c', 'ulimit -n 1024; exec "$@"', 'sh'])
    const at = await poor.listening
    const sockets = Array.from({ length: 2_000 }, () => open(at))
    for (const socket of sockets) socket.resume()
    await delay(2_000)
    expect(poor.isAlive()).toBe(true)
    for (const socket of sockets) socket.destroy()
    await expect
      .poll(() => fetch(`${at}${chat}`, post(bodyOf('now'))).then(({ status }) => status, String), { timeout: 60_000 })
      .toBe(200)
    expect(poor.stderr()).toBe('')
  })
})

const post = (body: string, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
})

describe('names', () => {
  const evil = ['a\r\nset-cookie: evil=1', 'a\nb', '\u0000', '\u007f', '\ud800', '', 'x'.repeat(257)]

  it.each(evil.map((name) => [name]))('that nobody should have are refused in a path: %j', async (name) => {
    const encoded = name === '\ud800' ? '%ed%a0%80' : encodeURIComponent(name)
    const { text } = await speak(url, [request('POST', `/s/${encoded}${chat}`, bodyOf('x'))], {
      until: (text) => text.includes('"error"'),
    })
    expect(statusesIn(text)).toEqual([name === '' ? 404 : 400])
    expect(text).not.toMatch(/^set-cookie/im)
  })

  it('go into no header of an answer, whatever they hold', async () => {
    const said = 'x\r\nset-cookie: evil=1\r\n\r\n<html>'
    const body = JSON.stringify({ model: said, user: 'someone', messages: [{ role: 'user', content: said }] })
    for (const stream of [true, false]) {
      const asked = body.replace('{', `{"stream":${stream},`)
      const { text } = await speak(url, [request('POST', chat, asked)], { until: (text) => text.includes('error') })
      expect(text.split('\r\n\r\n')[0]).not.toMatch(/evil/)
    }
    const answers = await Promise.all(
      ['session', 'agent', 'subject', 'train'].map(async (header) => {
        const bytes = request('POST', chat, bodyOf('x'), `ratchet-${header}: \xff\xfe`)
        return statusesIn((await speak(url, [bytes], { until: (text) => text.includes('"error"') })).text)
      }),
    )
    expect(answers).toEqual([[400], [400], [400], [400]])
    const many = await fetch(`${url}${chat}`, post(bodyOf('x', { user: 'u\r\nx: y' })))
    expect(many.status).toBe(400)
  })

  it('of all scripts are names', async () => {
    for (const name of ['Grüße 東京 🙂', 'a/b', 'a..b', '%', '?', "'; drop table trajectories; --", '__proto__']) {
      const response = await fetch(`${url}/s/${encodeURIComponent(name)}${chat}`, post(bodyOf('x')))
      expect(response.status, name).toBe(200)
      expect((await recorded(name))?.origin).toMatchObject({ session: name })
    }
  })
})

describe('what is asked for', () => {
  it('is a model that there is not: the upstream says so, and it is recorded', async () => {
    const session = randomUUID()
    const response = await fetch(
      `${url}${chat}`,
      post(bodyOf('x', { model: 'nobody' }), { 'ratchet-session': session }),
    )
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found' } })
    expect(await recorded(session)).toMatchObject({ stopReason: 'model-error' })
  })

  it('is a route or a method that there is not: 404 or 405 in the error shape', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND', 'TRACE']
    const paths = [
      '/',
      '/v1',
      '/v1/chat',
      '//v1/chat/completions',
      '/v1/../metrics',
      '/%2e%2e/etc/passwd',
      '/v1/chat/completions/',
      '/s//v1/models',
      `/${'x'.repeat(20_000)}`,
      '/ratchet',
      '/%',
      '/%ff',
      '/v1/models?x=%',
    ]
    for (const path of paths) {
      for (const method of methods) {
        const bytes = request(method, path, ['POST', 'PUT', 'PATCH'].includes(method) ? '{}' : '')
        const { text, end } = await speak(url, [bytes], { until: (text) => text.includes('\r\n\r\n') })
        const [status = 0] = statusesIn(text)
        expect(end, `${method} ${path.slice(0, 40)}`).toBe('until')
        expect(status >= 400 && status < 500 ? 'refused' : status, `${method} ${path.slice(0, 40)} ${text}`).toBe(
          path.startsWith('/v1/models?') && /GET|HEAD/.test(method) ? 200 : 'refused',
        )
      }
    }
    await expectServed()
  })

  it('is another protocol', async () => {
    const upgrade = ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-key: x', 'sec-websocket-version: 13']
    const socket = await speak(url, [request('GET', '/healthz', '', ...upgrade)], {
      until: (text) => text.includes('ok'),
    })
    expect(statusesIn(socket.text)).toEqual([200])
    const tunnel = await speak(url, ['CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n'])
    expect(tunnel.end).toBe('closed')
    const expecting = await speak(url, [request('POST', chat, '{}', 'expect: the-unexpected')], {
      until: (text) => text.includes('\r\n\r\n'),
    })
    expect(statusesIn(expecting.text)[0]).toBe(417)
    await expectServed()
  })
})

describe('a gateway with keys', () => {
  it('answers whoever has a right one, and nobody else, a thousand wrong ones at once', async () => {
    const at = sqlitePlace()
    const store = await openStore(at.location)
    const make = (options: object) =>
      newKey({ name: 'a', tenant: 'default', scopes: ['infer'], now: Date.now(), ...options })
    const [right, signals, expired, revoked] = [
      make({}),
      make({ scopes: ['signal'] }),
      make({ expiresAt: 1 }),
      make({}),
    ]
    for (const { key } of [right, signals, expired, revoked]) await store.keys.put(key)
    await store.keys.revoke(revoked.key.id, Date.now())
    await store.close()
    const guarded = await another(configured({ auth: 'required' }), [], at)
    const to = await guarded.listening
    const tell = async (authorization: string | null, path = chat, body = bodyOf('x')) => {
      const response = await fetch(`${to}${path}`, post(body, authorization === null ? {} : { authorization }))
      await response.text()
      return response.status
    }
    const { token } = right
    const wrong = [
      null,
      '',
      'Bearer',
      'Bearer ',
      'Bearer x',
      `Basic ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`,
      `Bearer rk_${'a'.repeat(16)}_${'b'.repeat(43)}`,
      `Bearer ${expired.token}`,
      `Bearer ${revoked.token}`,
      `Bearer ${'x'.repeat(10_000)}`,
      'Bearer \u00e9',
    ]
    for (const authorization of wrong) expect(await tell(authorization), String(authorization)).toBe(401)
    expect(await tell(`Bearer ${signals.token}`)).toBe(403)
    expect(await tell(`Bearer ${token}`, '/ratchet/signals', '{}')).toBe(403)
    const guesses = Array.from({ length: 1_000 }, (_, i) =>
      tell(`Bearer rk_${String(i).padStart(16, 'a')}_${'b'.repeat(43)}`),
    )
    const served = Array.from({ length: 10 }, () => tell(`Bearer ${token}`))
    const [guessed, answered] = await Promise.all([Promise.all(guesses), Promise.all(served)])
    expect(guessed.filter((status) => status !== 401 && status !== 429)).toEqual([])
    expect(answered).toEqual(Array.from({ length: 10 }, () => 200))
    // Who may not come in may not send a body either.
    const flood = `POST ${chat} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000000\r\n\r\n`
    expect(statusesIn((await speak(to, [flood], { until: (text) => text.includes('"error"') })).text)).toEqual([401])
  })
})

it('after all this everything can be read, and nothing went wrong that the gateway does not expect', async () => {
  await expectServed()
  expect((await reading(place, allTrajectories)).length).toBeGreaterThan(50)
  expect(await place.damage()).toEqual([])
  expect(await inFlight(url)).toBe(0)
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  expect(gateway.log).toEqual([])
  expect(gateway.stderr()).toBe('')
})
