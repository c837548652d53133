import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { InputError } from '../errors/index.ts'
import type { Gateway } from './create-gateway.ts'
import { pace } from './http/paced.ts'
import { problemOf, problemResponse } from './http/problem.ts'
import { refusal } from './http/refusals.ts'
import { wrongOnTheWire } from './http/target.ts'

/** Where to listen, and how patient to be. Times are in milliseconds. */
export interface ServeOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** From the first byte of a request to the end of its headers, and to the end of its body. Default: 20 s, 2 min. */
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  /** How long an idle connection is kept. Default: 75 s, longer than the load balancers before it. */
  readonly keepAliveMs?: number
  /** How often connections are looked over for those that are too slow. Default: 5 s. */
  readonly watchMs?: number
  /** How long the reader of a finished answer may take nothing. Default: a minute. */
  readonly patienceMs?: number
  /** How long calls under way may take to end when the server closes. Default: 30 s. */
  readonly graceMs?: number
}

/** A gateway that listens. */
export interface Listening {
  /** Without a slash at its end, and without `/v1`. */
  readonly url: string
  readonly port: number
  /** Takes no more requests, lets calls under way end within the grace, stops the others, and frees the port. */
  close(): Promise<void>
}

/** Headers are small; larger ones are an attack. */
const maxHeaderBytes = 32 * 1024
const maxHeaders = 200

/**
 * Requests that one connection may send before it has the answers to those before: Node hands over at once whatever comes
 * in one read, and hundreds of small ones keep everybody else waiting. No SDK sends more than one.
 */
const mostAhead = 16

/** After the calls were stopped, their clients have this long to read what they were told. */
const lastWordsMs = 2_000
/** How often connections that have become idle are closed while the server closes. */
const sweepMs = 50

/**
 * Puts a gateway on a port, with Node's own server.
 * @throws InputError `gateway/cannot-listen` when the address cannot be had.
 */
export async function serve(gateway: Gateway, options: ServeOptions): Promise<Listening> {
  const { keepAliveMs = 75_000, patienceMs = 60_000, graceMs = 30_000 } = options
  // HTTP/1 alone is spoken here, so the connection is Node's.
  const answer = getRequestListener((request, env) => gateway.fetch(request, env as HttpBindings), {
    errorHandler: unreadable,
    // HTTP/1.0 asks for none, and health checks speak it.
    hostname: 'localhost',
  })
  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMs ?? 20_000,
      requestTimeout: options.requestTimeoutMs ?? 120_000,
      connectionsCheckingInterval: options.watchMs ?? 5_000,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: maxHeaderBytes,
      noDelay: true,
    },
    (incoming, outgoing) => {
      const { socket } = incoming
      unused.delete(socket)
      if (socket.destroyed) return
      const ahead = (unanswered.get(socket) ?? 0) + 1
      if (ahead > mostAhead) return void socket.destroy()
      unanswered.set(socket, ahead)
      pace(incoming)
      outgoing.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1))
      // An answer that is over waits for its reader, but not for ever; Node's own time-outs follow when it has gone out.
      outgoing.once('prefinish', () => socket.setTimeout(patienceMs))
      const wrong = wrongOnTheWire(incoming)
      if (wrong === null) return void answer(incoming, outgoing)
      const { status, body, headers } = problemOf(wrong)
      outgoing.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
      outgoing.end(JSON.stringify(body))
    },
  )
  const unanswered = new WeakMap<Socket, number>()
  // Node does not count a connection as idle before its first request.
  const unused = new Set<Socket>()
  server.on('connection', (socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.maxHeadersCount = maxHeaders
  const { port } = await listen(server, options)
  let closing: Promise<void> | null = null
  return {
    port,
    url: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close: () => (closing ??= close(server, unused, gateway, graceMs)),
  }
}

/** A request whose target or host is none; what goes wrong later is answered by the gateway. */
function unreadable(): Response {
  return problemResponse(
    problemOf(refusal('bad-target', "The request's target or host cannot be read.", 'Send a proper URL.')),
  )
}

function listen(server: Server, { host, port }: ServeOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new InputError({
          code: 'gateway/cannot-listen',
          message: `The gateway cannot listen on ${host}:${port}: ${cause.message}.`,
          hint: 'Choose another port (0 for any free one), or end what listens there.',
          cause,
        }),
      )
    })
    // A server on a host and port has such an address.
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
}

async function close(server: Server, unused: Set<Socket>, gateway: Gateway, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Connections that a client keeps for its next request would keep the server, too.
  const sweep = setInterval(() => {
    server.closeIdleConnections()
    for (const socket of unused) socket.destroy()
  }, sweepMs)
  const last = setTimeout(() => server.closeAllConnections(), graceMs + lastWordsMs)
  await Promise.race([gateway.close(graceMs), delay(graceMs + lastWordsMs, null, { ref: false })])
  await closed
  clearInterval(sweep)
  clearTimeout(last)
}
