import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { turns } from '../../core/index.ts'

/** Connections that are paced, with the request that is coming. */
const paced = new WeakMap<Socket, IncomingMessage>()

/**
 * Reads the connection of a request whose body comes in chunks one buffer in a turn of the event loop, of all such
 * connections together. Node reads 32 buffers at once, and takes a fifth of a second for those if the chunks are as small
 * as can be, whether somebody wants the body or nobody does.
 */
export function pace(incoming: IncomingMessage): void {
  const { socket } = incoming
  const known = paced.has(socket)
  if (incoming.headers['transfer-encoding'] === undefined) {
    // The connection stays paced: it waits for this request's reader from now on.
    if (known) paced.set(socket, incoming)
    return
  }
  paced.set(socket, incoming)
  if (known) return
  let held = false
  const resume = socket.resume.bind(socket)
  // A reader that has room lets the connection go on, and is not to end the wait.
  socket.resume = () => (held ? socket : resume())
  // Who listens to the bytes themselves has Node read them where they can be held back.
  socket.on('data', () => {
    held = true
    socket.pause()
    void turns.next(Number.POSITIVE_INFINITY)?.then(() => {
      held = false
      if (!isFull(paced.get(socket))) socket.resume()
    })
  })
}

/** Whether the request's reader has enough: then it lets the connection go on itself. */
function isFull(incoming: IncomingMessage | undefined): boolean {
  if (incoming === undefined || incoming.readableEnded || incoming.destroyed) return false
  return incoming.readableLength >= incoming.readableHighWaterMark
}
