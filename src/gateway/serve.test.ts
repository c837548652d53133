import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { listeningGateway, type ListeningGateway } from '../../test/support/listening-gateway.ts'
import { serve } from './serve.ts'

let gateway: ListeningGateway
afterEach(() => gateway.close())

const path = '/v1/chat/completions'
const ask = { model: 'scripted', messages: [{ role: 'user' as const, content: 'one two three four five six' }] }

/** Opens a connection, sends text, and tells what came until it was closed, and when. */
function dribble(port: number, text: string): Promise<{ answer: string; ms: number }> {
  return new Promise((resolve) => {
    const began = performance.now()
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.on('data', (bytes) => (answer += bytes.toString()))
    socket.on('error', () => {})
    socket.on('close', () => resolve({ answer, ms: performance.now() - began }))
    socket.write(text)
  })
}

describe('clients that are too slow', () => {
  const serving = { headersTimeoutMs: 200, requestTimeoutMs: 400, watchMs: 50, keepAliveMs: 300 }

  it('with their headers are let go', async () => {
    gateway = await listeningGateway({ serving })
    const { answer, ms } = await dribble(gateway.port, `POST ${path} HTTP/1.1\r\nhost: x\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 408/)
    expect(ms).toBeLessThan(2_000)
  })

  it('with their body are let go, and hold nothing', async () => {
    gateway = await listeningGateway({ serving })
    const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\ncontent-type: application/json\r\n\r\n{`
    const { ms } = await dribble(gateway.port, head)
    expect(ms).toBeLessThan(2_000)
    await expect.poll(() => gateway.door.inside).toBe(0)
  })

  it('with nothing at all are let go', async () => {
    gateway = await listeningGateway({ serving })
    const { ms } = await dribble(gateway.port, '')
    expect(ms).toBeLessThan(2_000)
  })

  it('and idle ones, after the time they may stay', async () => {
    gateway = await listeningGateway({ serving })
    const { answer, ms } = await dribble(gateway.port, 'GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 200/)
    expect(ms).toBeGreaterThan(250)
    expect(ms).toBeLessThan(3_000)
  })
})

describe('a reader that takes nothing', () => {
  it('holds the upstream back, and is given up', async () => {
    gateway = await listeningGateway({ patienceMs: 300 })
    gateway.upstream.fail('huge')
    const body = JSON.stringify({ ...ask, stream: true })
    const memory = process.memoryUsage().rss
    const socket = connect(gateway.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await expect.poll(() => gateway.recorder.calls[0]?.end?.stopReason, { timeout: 5_000 }).toBe('cancelled')
    const said = gateway.recorder.calls[0]?.end?.answer?.choices[0]?.message.content.length ?? 0
    expect(said).toBeGreaterThan(64 * 1024)
    // Of 50 MB, what the sockets on the way hold.
    expect(said).toBeLessThan(20 * 1024 * 1024)
    expect(process.memoryUsage().rss - memory).toBeLessThan(150 * 1024 * 1024)
    await expect.poll(() => gateway.upstream.abandoned).toBe(1)
    await expect.poll(() => gateway.door.inside).toBe(0)
    expect(gateway.telemetry.ends).toMatchObject([{ status: 499 }])
    socket.destroy()
  })
})

describe('an answer that is over', () => {
  it('waits for its reader, but not for ever', async () => {
    gateway = await listeningGateway({
      upstream: { say: () => 'x'.repeat(20_000_000) },
      reaching: { tellsTokens: 'no' },
      serving: { patienceMs: 300 },
    })
    const body = JSON.stringify(ask)
    const socket = connect(gateway.port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.on('close', resolve))
    socket.on('error', () => {})
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    let read = 0
    let patient = true
    socket.on('data', (bytes) => {
      read += bytes.length
      if (patient) socket.pause()
      if (patient && read < 1_000_000) setTimeout(() => socket.resume(), 20)
    })
    await expect.poll(() => gateway.recorder.calls[0]?.end?.stopReason, { timeout: 10_000 }).toBe('done')
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    patient = false
    socket.resume()
    await closed
    expect(read).toBeGreaterThan(1_000_000)
    expect(read).toBeLessThan(20_000_000)
  })
})

describe('closing', () => {
  it('lets calls end that are under way, and takes no others', async () => {
    gateway = await listeningGateway({ upstream: { chunkDelayMs: 30 } })
    const stream = await gateway.client().chat.completions.create({ ...ask, stream: true })
    const text = (async () => {
      let said = ''
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? ''
      return said
    })()
    const closed = gateway.close()
    await expect(gateway.post(path, ask)).rejects.toThrow()
    expect(await text).toBe('You said: one two three four five six')
    await closed
    expect(gateway.recorder.calls[0]?.end?.stopReason).toBe('done')
  })

  it('stops after its grace what does not end, and records what came', async () => {
    gateway = await listeningGateway({ upstream: { chunkDelayMs: 100 }, serving: { graceMs: 150 } })
    const whole = gateway.post(path, { ...ask, model: 'fault:hang' })
    const response = await gateway.post(path, { ...ask, stream: true })
    const text = response.text()
    await expect.poll(() => gateway.recorder.calls.length).toBe(2)
    await gateway.close()
    expect(await text).toMatch(/You[^]*"error"/)
    expect((await whole).status).toBe(503)
    const ends = gateway.recorder.calls.map(({ end }) => end)
    expect(ends.map((end) => end?.stopReason)).toEqual(['interrupted', 'interrupted'])
    expect(ends.find((end) => end?.answer !== null)?.answer?.choices[0]?.message.content).toMatch(/^You/)
  })

  it('does not wait for idle connections', async () => {
    gateway = await listeningGateway()
    await gateway.post(path, ask)
    // The test's own time ends long before an idle connection does.
    await gateway.close()
  })
})

it('says so when it cannot have its port', async () => {
  gateway = await listeningGateway()
  await expect(serve(gateway.gateway, { host: '127.0.0.1', port: gateway.port })).rejects.toMatchObject({
    code: 'gateway/cannot-listen',
  })
})
