import { createServer } from 'node:net'
import { once } from 'node:events'
import { isLoopback } from '../../gateway/index.ts'
import { failure, type Finding, found, ok } from './finding.ts'

/** Where a gateway is to listen. */
export interface Listening {
  readonly host: string
  readonly port: number
}

/** Whether a gateway may listen where it is to, or already does. */
export const checkListening = ({ host, port }: Listening): Promise<Finding> =>
  found('port', async () => {
    const server = createServer()
    try {
      server.listen({ host, port })
      await once(server, 'listening')
      return ok('port', port === 0 ? `Any free port of ${host} will do.` : `${host}:${port} is free.`)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE' && (await isGateway({ host, port }))) {
        return ok('port', `A gateway listens at ${host}:${port} already.`)
      }
      if (code === 'EADDRINUSE') {
        return failure(
          'port',
          `Another program listens at ${host}:${port}.`,
          'Choose another with --port, or "port" in the configuration.',
        )
      }
      return failure(
        'port',
        `${host}:${port} cannot be listened to: ${String(code)}.`,
        'Choose an address of this machine, and a port from 1024.',
      )
    } finally {
      server.close()
    }
  })

async function isGateway({ host, port }: Listening): Promise<boolean> {
  const name = isLoopback(host) ? host : '127.0.0.1'
  try {
    const answer = await fetch(`http://${name.includes(':') ? `[${name}]` : name}:${port}/openapi.json`, {
      signal: AbortSignal.timeout(2000),
    })
    return (await answer.text()).includes('/ratchet/signals')
  } catch {
    return false
  }
}
