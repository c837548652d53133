import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Outlet, outletOf } from './outlet.ts'

let server: Server
afterEach(() => server.close())

/** All that a client of the outlet gets, byte for byte, after its head. */
async function answerTo(request: string, tell: (outlet: Outlet) => void | Promise<void>): Promise<string> {
  server = createServer((_, outgoing) => {
    const headers = { 'content-type': 'text/plain' }
    void tell(outletOf(outgoing, { headers, onRoom: () => {}, onGone: () => {} }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(request)
  const pieces: Buffer[] = []
  for await (const piece of socket) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8').split('\r\n\r\n').slice(1).join('\r\n\r\n')
}

const over11 = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

describe('an outlet under the server of Node', () => {
  it('sends each text as one piece, by its bytes, and the end with the last one', async () => {
    const body = await answerTo(over11, async (outlet) => {
      outlet.write('data: plain\n\n')
      await nextTurn()
      outlet.write('data: Grüße 👋\n\n')
      await nextTurn()
      outlet.end('data: ü\n\n')
    })
    const pieces = ['d\r\ndata: plain\n\n', '14\r\ndata: Grüße 👋\n\n', 'a\r\ndata: ü\n\n', '0\r\n', '']
    expect(body).toBe(pieces.join('\r\n'))
  })

  it('ends with nothing more to say', async () => {
    expect(
      await answerTo(over11, (outlet) => {
        outlet.write('é')
        outlet.end('')
      }),
    ).toBe('2\r\né\r\n0\r\n\r\n')
  })

  it('sends the texts alone to a client of HTTP/1.0', async () => {
    const body = await answerTo('GET / HTTP/1.0\r\n\r\n', (outlet) => {
      outlet.write('one ')
      outlet.end('zwö')
    })
    expect(body).toBe('one zwö')
  })

  it('keeps the connection for the next request', async () => {
    const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
    const body = await answerTo(request + over11, (outlet) => {
      outlet.write('x')
      outlet.end('y')
    })
    expect(body).toMatch(/^1\r\nx\r\n1\r\ny\r\n0\r\n\r\nHTTP\/1\.1 200 OK[^]*\r\n\r\n1\r\nx\r\n1\r\ny\r\n0\r\n\r\n$/)
  })
})
