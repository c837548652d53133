import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What came back on a connection, and how it ended. */
export interface Spoken {
  /** As Latin-1. */
  readonly text: string
  /** `until` came, the gateway closed the connection, or neither did in time. */
  readonly end: 'until' | 'closed' | 'late'
}

export interface SpeakOptions {
  /** Enough has come. Default: only the end of the connection is enough. */
  readonly until?: (text: string) => boolean
  readonly lateMs?: number
}

/** Opens a connection to a gateway. Errors on it are its end. */
export function open(url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  return socket
}

/** Sends bytes as they are (text as Latin-1), and reads. */
export async function speak(
  url: string,
  pieces: Iterable<string | Buffer>,
  { until = () => false, lateMs = 30_000 }: SpeakOptions = {},
): Promise<Spoken> {
  const socket = open(url)
  let text = ''
  const read = new Promise<'until' | 'closed'>((resolve) => {
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (until(text)) resolve('until')
    })
    socket.on('close', () => resolve('closed'))
  })
  const written = (async () => {
    for (const piece of pieces) {
      if (socket.destroyed) return
      const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece
      if (!socket.write(bytes)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), read])
    }
  })()
  const end = await Promise.race([read, written.then(() => delay(lateMs, 'late' as const, { ref: false }))])
  socket.destroy()
  return { text, end }
}

/** A request as it goes over the wire. */
export function request(method: string, path: string, body = '', ...headers: readonly string[]): string {
  const all = [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    ...(body === '' ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body, 'latin1')}`]),
    ...headers,
  ]
  return `${all.join('\r\n')}\r\n\r\n${body}`
}

/** The statuses of the answers in what was read, in order. */
export const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
