import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What a proxy does with a connection: hands it on, refuses it as a server would, or never says a word. */
export type Door =
  | 'open'
  | 'silent'
  | { readonly refuse: (startup: string) => { code: string; message: string } | null }

/** Stands between a test and PostgreSQL, and behaves as badly as it is told to. */
export interface PostgresProxy {
  /** The database's URL, through the proxy, with a password in it. */
  readonly url: string
  readonly password: string
  door: Door
  /** Breaks every connection, without a word. */
  cut(): void
  close(): Promise<void>
}

export async function startPostgresProxy(database: string): Promise<PostgresProxy> {
  const target = new URL(database)
  const sockets = new Set<Socket>()
  const password = 'hunter2+correct-horse'
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {}).on('close', () => sockets.delete(client))
    client.once('data', (startup) => {
      if (proxy.door === 'silent') return
      const refusal = proxy.door === 'open' ? null : proxy.door.refuse(startup.toString('latin1'))
      if (refusal) {
        client.end(errorResponse(refusal))
        return
      }
      const upstream = connect(Number(target.port || 5432), target.hostname)
      sockets.add(upstream)
      upstream.on('error', () => client.destroy()).on('close', () => sockets.delete(upstream))
      upstream.write(startup)
      client.pipe(upstream).pipe(client)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(database)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  url.password = password
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy: PostgresProxy = {
    url: url.href,
    password,
    door: 'open',
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        cut()
      }),
  }
  return proxy
}

/** The protocol's `ErrorResponse`. */
function errorResponse({ code, message }: { code: string; message: string }): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`)
  const head = Buffer.alloc(5, 'E')
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
