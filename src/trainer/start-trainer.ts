import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { InputError } from '../errors/index.ts'
import { type Door, openDoor } from './door.ts'
import { TrainerHost } from './host.ts'
import { trainerApp } from './http/app.ts'
import type { TrainerOptions } from './options.ts'
import { Sessions } from './requests/sessions.ts'

export interface StartTrainerOptions extends TrainerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** Who may ask. Default: whoever can reach the server. */
  readonly door?: Door
  /** Told of what is answered with 500. */
  readonly onUnexpected: (error: unknown) => void
}

/** A trainer server that listens. */
export interface RunningTrainer {
  /** Without a slash at its end; `/api/v1` follows it. */
  readonly url: string
  /** Takes no more requests and ends after the steps under way. What waits is done after the next start. */
  close(): Promise<void>
}

/** Clients keep their connections longer than load balancers. */
const keepAliveTimeout = 75_000

/**
 * Serves a model behind the REST endpoints of the Tinker protocol, so that its Python SDK trains and samples on it.
 * @throws InputError `trainer/cannot-listen` when the address cannot be had; LockedStoreError when another server has the
 * folder.
 */
export async function startTrainer(options: StartTrainerOptions): Promise<RunningTrainer> {
  const { door = openDoor, onFatal, onUnexpected } = options
  const host = await TrainerHost.open(options)
  const sessions = new Sessions(host, options.sessionMs ?? 300_000, onFatal)
  const app = trainerApp({ host, sessions, door, onUnexpected })
  const respond = getRequestListener((request) => app.fetch(request), { hostname: 'localhost' })
  const server = createServer({ keepAliveTimeout }, (incoming, outgoing) => void respond(incoming, outgoing))
  try {
    const { port } = await listen(server, options)
    const name = options.host.includes(':') ? `[${options.host}]` : options.host
    return { url: `http://${name}:${port}`, close }
  } catch (error) {
    await close()
    throw error
  }

  async function close(): Promise<void> {
    sessions.close()
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    await host.close()
    server.closeAllConnections()
    await closed
  }
}

function listen(server: Server, { host, port }: StartTrainerOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      reject(
        new InputError({
          code: 'trainer/cannot-listen',
          message: `The trainer cannot listen on ${host}:${port}: ${cause.message}.`,
          hint: 'Choose another port (0 for any free one), or end what listens there.',
          cause,
        }),
      )
    })
    // A server on a host and port has such an address.
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
}
