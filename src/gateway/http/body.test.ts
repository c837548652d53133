import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { KeyId } from '../../core/index.ts'
import { jsonOf } from '../../../test/support/gateway-parts.ts'
import { listeningGateway, type ListeningGateway } from '../../../test/support/listening-gateway.ts'
import { BodySpace } from './body-room.ts'

let gateway: ListeningGateway
afterEach(() => gateway.close())

const path = '/v1/chat/completions'
const ask = { model: 'scripted', messages: [{ role: 'user', content: 'hello' }] }
const key = (name: string) => ({ key: KeyId.parse(name), session: null })
const small = { config: { limits: { bodyBytes: 1_000 } } }

/** Sends bytes as they are, and reads what comes until the connection closes or `until` has come. */
function raw(port: number, text: string | readonly string[], until = 'never'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (bytes) => {
      answer += bytes.toString('latin1')
      if (answer.includes(until)) socket.destroy()
    })
    socket.on('close', () => resolve(answer))
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)))
    for (const piece of typeof text === 'string' ? [text] : text) socket.write(Buffer.from(piece, 'latin1'))
  })
}

const head = (...headers: string[]) =>
  [`POST ${path} HTTP/1.1`, 'host: localhost', 'content-type: application/json', ...headers, '', ''].join('\r\n')

describe('a body that is too large', () => {
  it('is refused at once when it says so', async () => {
    gateway = await listeningGateway(small)
    const answer = await raw(gateway.port, head('content-length: 100000000'), 'body-too-large')
    expect(answer).toMatch(/^HTTP\/1\.1 413/)
  })

  it('is refused while it is read when it does not', async () => {
    gateway = await listeningGateway(small)
    const piece = `200\r\n${' '.repeat(512)}\r\n`
    const answer = await raw(gateway.port, [head('transfer-encoding: chunked'), piece, piece, piece], 'body-too-large')
    expect(answer).toMatch(/^HTTP\/1\.1 413/)
  })

  it('of 100 MB is told so in words that a client reads', async () => {
    gateway = await listeningGateway()
    const messages = [{ role: 'user' as const, content: 'x'.repeat(100_000_000) }]
    const refused = gateway.client().chat.completions.create({ model: 'scripted', messages })
    await expect(refused).rejects.toMatchObject({ status: 413, code: 'gateway/body-too-large' })
    expect((await gateway.post(path, ask)).status).toBe(200)
  })

  it('is what the key says', async () => {
    gateway = await listeningGateway()
    gateway.door.caller = { limits: { requestsPerMinute: null, concurrency: null, bodyBytes: 10 } }
    expect((await gateway.post(path, ask)).status).toBe(413)
  })

  it('has no room beside many others', async () => {
    const bodies = new BodySpace(1_000)
    gateway = await listeningGateway({ bodies })
    const others = [bodies.room(key('a')), bodies.room(key('b'))]
    for (const room of others) room.take(490)
    const response = await gateway.post(path, ask)
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('1')
    for (const room of others) room.giveBack()
    expect((await gateway.post(path, ask)).status).toBe(200)
    expect((await gateway.post(path, ask)).status).toBe(200)
  })

  it('leaves room for the maker of sessions, and for its other sessions', () => {
    const bodies = new BodySpace(800)
    const limits = { requestsPerMinute: null, concurrency: null, bodyBytes: null }
    const maker = { key: KeyId.parse('maker'), limits }
    const session = (name: string) => bodies.room({ key: KeyId.parse(name), session: name, parent: maker })
    session('a').take(100)
    expect(() => session('a').take(1)).toThrow('as many requests')
    const other = session('b')
    other.take(100)
    expect(() => session('c').take(1)).toThrow('as many requests')
    bodies.room({ ...maker, session: null }).take(200)
    other.giveBack()
    session('c').take(100)
  })

  it('leaves room beside one key that takes all it can', () => {
    const bodies = new BodySpace(100)
    const greedy = bodies.room(key('greedy'))
    greedy.take(50)
    expect(() => bodies.room(key('greedy')).take(1)).toThrow('as many requests')
    bodies.room(key('other')).take(50)
    greedy.giveBack()
    bodies.room(key('greedy')).take(50)
  })
})

describe('a body that is not what it should be', () => {
  it.each([
    ['no JSON', '{"model": ', 'gateway/not-json'],
    ['nothing', '', 'gateway/not-json'],
    ['two values', '{} {}', 'gateway/not-json'],
    ['no UTF-8', '{"model": "\xff"}', 'gateway/not-utf-8'],
    ['an array that is too deep', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`, 'gateway/json-too-deep'],
    ['an object that is too deep', '{"a":'.repeat(1_000_000), 'gateway/json-too-deep'],
  ])('%s', async (_, body, code) => {
    gateway = await listeningGateway()
    const answer = await raw(gateway.port, [head(`content-length: ${body.length}`), body], '"error"')
    expect(answer).toMatch(/^HTTP\/1\.1 400/)
    expect(answer).toContain(code)
    expect((await gateway.post(path, ask)).status).toBe(200)
  })

  it.each([
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'text/plain; json' }, 415],
    [{ 'content-type': 'multipart/form-data; boundary=json' }, 415],
    [{ 'content-type': 'Application/JSON;charset=utf-8' }, 200],
    [{ 'content-type': 'application/x-www-form-urlencoded' }, 415],
    [{ 'content-encoding': 'gzip' }, 415],
    [{ 'content-type': 'application/vnd.api+json; charset=utf-8' }, 200],
    [{ 'content-encoding': 'identity' }, 200],
  ])('%j', async (headers, status) => {
    gateway = await listeningGateway()
    expect((await gateway.post(path, ask, headers)).status).toBe(status)
  })

  it('needs no content-type', async () => {
    gateway = await listeningGateway()
    const body = JSON.stringify(ask)
    const plain = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    expect(await raw(gateway.port, plain, 'chat.completion')).toMatch(/^HTTP\/1\.1 200/)
  })

  it('comes in pieces', async () => {
    gateway = await listeningGateway()
    const [a, b] = [JSON.stringify(ask).slice(0, 20), JSON.stringify(ask).slice(20)]
    const pieces = [a, b, ''].map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`)
    const answer = await raw(gateway.port, [head('transfer-encoding: chunked'), ...pieces], 'chat.completion')
    expect(answer).toMatch(/^HTTP\/1\.1 200/)
  })
})

describe('requests that are none', () => {
  it.each([
    ['GET http://[ HTTP/1.1\r\nhost: localhost\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nhost: a b\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\n\r\n', 400],
    ['nonsense\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(50_000)}\r\n\r\n`, 431],
  ])('%j', async (request, status) => {
    gateway = await listeningGateway()
    expect(await raw(gateway.port, request, '\r\n\r\n')).toMatch(new RegExp(`^HTTP/1\\.1 ${status}`))
    expect((await gateway.post(path, ask)).status).toBe(200)
  })
})

describe('what is at no route', () => {
  it('has a hint', async () => {
    gateway = await listeningGateway()
    const response = await gateway.post('/chat/completions', ask)
    expect(response.status).toBe(404)
    expect(await jsonOf(response)).toMatchObject({
      error: { code: 'gateway/no-such-route', message: expect.stringContaining('Did you mean /v1/chat/completions?') },
    })
    expect((await fetch(`${gateway.url}/${'x'.repeat(5_000)}`)).status).toBe(404)
  })

  it.each([path, `/s/x${path}`, '/v1/models', '/openapi.json'])('may be at another method: %s', async (path) => {
    gateway = await listeningGateway()
    const response = await fetch(`${gateway.url}${path}`, { method: 'DELETE' })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(path.includes('chat') ? 'POST' : 'GET')
  })
})

describe('a body in pieces of a byte', () => {
  const chunks = (count: number) => '1\r\n \r\n'.repeat(count)
  const last = JSON.stringify(ask)
  const end = `${last.length.toString(16)}\r\n${last}\r\n0\r\n\r\n`

  it('is read as any other', async () => {
    gateway = await listeningGateway()
    const answer = await raw(gateway.port, [head('transfer-encoding: chunked'), chunks(5_000), end], 'You said')
    expect(answer).toMatch(/^HTTP\/1\.1 200/)
  })

  it('is refused when there are too many: each costs as much as many bytes', async () => {
    gateway = await listeningGateway()
    const answer = await raw(gateway.port, [head('transfer-encoding: chunked'), chunks(70_000), end], 'too-many-pieces')
    expect(answer).toMatch(/^HTTP\/1\.1 413/)
  })
})
