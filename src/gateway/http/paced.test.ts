import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { pace } from './paced.ts'

const head = (...lines: string[]) => ['POST / HTTP/1.1', 'host: a', ...lines, '', ''].join('\r\n')

/** A server that hands over each request, and the most bytes that it read of one connection in a turn of the event loop. */
async function serverOf(onRequest: (incoming: IncomingMessage) => void) {
  const seen = { most: 0, over: false }
  const server = createServer((incoming, outgoing) => {
    pace(incoming)
    onRequest(incoming)
    incoming.on('end', () => outgoing.end('read'))
  })
  server.on('connection', (socket: Socket) => {
    let before = 0
    const look = () => {
      seen.most = Math.max(seen.most, socket.bytesRead - before)
      before = socket.bytesRead
      if (!seen.over) setImmediate(look)
    }
    setImmediate(look)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  let answers = ''
  client.on('data', (bytes) => (answers += bytes.toString()))
  const answered = async (times: number) => {
    while (answers.split('HTTP/1.1 200').length <= times) await once(client, 'data')
  }
  const close = () => {
    seen.over = true
    client.destroy()
    server.close()
  }
  return { client, answered, seen, close }
}

const tiny = '1\r\n \r\n'.repeat(300_000)

it('reads chunks of a byte a buffer at a time, whether somebody wants them or nobody does', async () => {
  let bytes = 0
  const { client, answered, seen, close } = await serverOf((incoming) => {
    if (incoming.headers['x-wanted']) incoming.on('data', (piece: Buffer) => (bytes += piece.length))
    else incoming.resume()
  })
  client.write(`${head('transfer-encoding: chunked', 'x-wanted: yes')}${tiny}0\r\n\r\n`)
  await answered(1)
  client.write(`${head('transfer-encoding: chunked')}${tiny}0\r\n\r\n${head('content-length: 2')}ok`)
  await answered(3)
  expect(bytes).toBe(300_000)
  // Two or three of Node’s buffers; of all, nearly two megabytes come at once.
  expect(seen.most).toBeLessThanOrEqual(4 * 64 * 1024)
  close()
})

it('waits for a reader that takes its time', async () => {
  const { client, answered, seen, close } = await serverOf((incoming) => {
    void (async () => {
      for await (const _ of incoming) if (Math.random() < 0.001) await new Promise(setImmediate)
    })()
  })
  client.write(`${head('transfer-encoding: chunked')}${`1000\r\n${' '.repeat(4_096)}\r\n`.repeat(500)}0\r\n\r\n`)
  await answered(1)
  expect(seen.most).toBeLessThanOrEqual(4 * 64 * 1024)
  close()
})

it('leaves a body of a known length to Node', async () => {
  const { client, answered, close } = await serverOf((incoming) => {
    expect(incoming.socket.listenerCount('data')).toBe(1)
    incoming.resume()
  })
  client.write(`${head('content-length: 2')}ok`)
  await answered(1)
  close()
})

it('waits for the reader of a body of a known length on a connection that was paced before', async () => {
  const length = 16 * 1024 * 1024
  const later: IncomingMessage[] = []
  const { client, answered, close } = await serverOf((incoming) => {
    if (incoming.headers['content-length'] === undefined) incoming.resume()
    else later.push(incoming)
  })
  client.write(`${head('transfer-encoding: chunked')}1\r\n \r\n0\r\n\r\n`)
  await answered(1)
  client.write(`${head(`content-length: ${length}`)}${' '.repeat(length)}`)
  // More turns than it takes to read all of it.
  for (let turn = 0; turn < 2_000; turn += 1) await new Promise(setImmediate)
  const [incoming] = later
  expect(incoming?.readableLength).toBeGreaterThan(0)
  expect(incoming?.readableLength).toBeLessThanOrEqual(4 * 64 * 1024)
  incoming?.resume()
  await answered(2)
  close()
})
