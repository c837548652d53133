import type { ServerResponse } from 'node:http'

/** Where an answer that is told as it comes goes out. */
export interface Outlet {
  /** What the route returns. */
  readonly response: Response
  /** @returns whether there is room for more; where there is none, `onRoom` tells when there is. */
  write(text: string): boolean
  /** @param text what is left to write; may be empty. */
  end(text: string): void
  /** Cuts off a reader that is given up. */
  sever(): void
}

export interface OutletOptions {
  readonly headers: Readonly<Record<string, string>>
  /** There is room again. */
  readonly onRoom: () => void
  /** Nobody reads any more. */
  readonly onGone: () => void
}

/**
 * Straight to the client of Node's server: a web stream on the way would cost more than all else that is done for a piece
 * of an answer. @param outgoing `null` where there is no such server.
 */
export function outletOf(outgoing: ServerResponse | null, options: OutletOptions): Outlet {
  return outgoing === null ? webOutlet(options) : nodeOutlet(outgoing, options)
}

function nodeOutlet(outgoing: ServerResponse, { headers, onRoom, onGone }: OutletOptions): Outlet {
  outgoing.on('drain', onRoom)
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) onGone()
  })
  outgoing.writeHead(200, headers)
  outgoing.flushHeaders()
  // Node would give its socket three texts for each piece; HTTP/1.0 has no pieces.
  const inPieces = outgoing.chunkedEncoding
  outgoing.chunkedEncoding = false
  return {
    response: alreadySent(),
    write: (text) => {
      const bytes = Buffer.byteLength(text)
      // What is ASCII is the same in both, and needs no conversion in one.
      const encoding = bytes === text.length ? 'latin1' : 'utf8'
      return outgoing.write(inPieces ? pieceOf(bytes, text) : text, encoding)
    },
    end: (text) => {
      const last = inPieces ? `${text === '' ? '' : pieceOf(Buffer.byteLength(text), text)}0\r\n\r\n` : text
      outgoing.end(last)
    },
    sever: () => outgoing.destroy(),
  }
}

/** One piece of a body, as the chunked encoding of HTTP/1.1 has it. */
const pieceOf = (bytes: number, text: string) => `${bytes.toString(16)}\r\n${text}\r\n`

/** The adapter of Node's server leaves alone what says this of itself, once it has looked at its body. */
function alreadySent(): Response {
  const response = new Response(null, { headers: { 'x-hono-already-sent': 'true' } })
  void response.body
  return response
}

/** Bytes that may wait for a slow reader before its answer waits, too. */
const buffered = 64 * 1024

function webOutlet({ headers, onRoom, onGone }: OutletOptions): Outlet {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null
  const readable = new ReadableStream<Uint8Array>(
    {
      start: (begun) => {
        controller = begun
      },
      pull: onRoom,
      cancel: onGone,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: buffered }),
  )
  return {
    response: new Response(readable, { headers }),
    write: (text) => {
      controller?.enqueue(Buffer.from(text))
      return (controller?.desiredSize ?? 1) > 0
    },
    end: (text) => {
      if (text !== '') controller?.enqueue(Buffer.from(text))
      controller?.close()
    },
    sever: () => controller?.error(new Error('The reader took nothing for too long.')),
  }
}
