import { nestsDeeperThan } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import type { BodyRoom } from './body-room.ts'
import { refusal } from './refusals.ts'

/** Deeper nesting than this is an attack on whoever walks the value, not data. */
const maxBodyDepth = 128

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value of a request's body, of at most `limit` bytes, which is enforced while it is read.
 * @param room takes account of the bytes for as long as the call lasts.
 * @throws GatewayError 413, 415, 429 (`room` is full), or 400 for what is no JSON.
 */
export async function readJson(request: Request, limit: number, room: BodyRoom): Promise<unknown> {
  requireJson(request.headers)
  const bytes = await readBytes(request, limit, room)
  const text = textOf(bytes)
  if (nestsDeeperThan(maxBodyDepth, text)) {
    throw refusal(
      'json-too-deep',
      `The request's JSON nests deeper than ${maxBodyDepth} levels.`,
      'Send flatter data: nothing in this API needs such depth.',
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refusal(
      'not-json',
      `The request's body is not JSON: ${(error as Error).message}.`,
      'Send one JSON object as the body.',
    )
  }
}

/** `application/json` and the types made of it, whatever follows as a parameter. */
const jsonType = /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/**
 * A missing type is forgiven. Types that a web page can send to another site unasked are not JSON's: `text/plain;json` is
 * one of them.
 */
function requireJson(headers: Headers): void {
  const type = headers.get('content-type')
  if (type !== null && !jsonType.test(type)) {
    throw refusal(
      'not-json-type',
      `The request's content-type is "${type.slice(0, 100)}", not JSON.`,
      'Send the header `content-type: application/json`.',
      { status: 415 },
    )
  }
  const encoding = headers.get('content-encoding')
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw refusal(
      'encoded-body',
      `The request's content-encoding "${encoding.slice(0, 100)}" is not understood.`,
      'Send the body as it is, without compression.',
      { status: 415 },
    )
  }
}

const tooLarge = (limit: number) =>
  refusal(
    'body-too-large',
    `The request's body is larger than ${limit} bytes.`,
    'Send less, or have the limit raised: `limits.bodyBytes` of the configuration, or of the key.',
    { status: 413 },
  )

async function readBytes(request: Request, limit: number, room: BodyRoom): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  try {
    if (declared === null) return await readStream(request, limit, room)
    const length = Number(declared)
    if (length > limit) throw tooLarge(limit)
    room.take(length)
    const bytes = new Uint8Array(await request.arrayBuffer())
    if (bytes.length > limit) throw tooLarge(limit)
    return bytes
  } catch (error) {
    if (RatchetError.is(error)) throw error
    throw refusal('body-incomplete', "The request's body did not come to its end.", 'Send the request again.')
  }
}

async function readStream({ body }: Request, limit: number, room: BodyRoom): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let length = 0
  if (body !== null) {
    for await (const piece of body) {
      length += piece.length
      if (length > limit) throw tooLarge(limit)
      room.take(piece.length)
      pieces.push(piece)
    }
  }
  return Buffer.concat(pieces, length)
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw refusal('not-utf-8', "The request's body is not UTF-8.", 'Encode the JSON as UTF-8.')
  }
}
