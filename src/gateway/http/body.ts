import { isUtf8 } from 'node:buffer'
import { GatheredBytes, measureJson, textInParts, turns, weightOf } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'
import { beyondBounds, bodyBounds } from './body-bounds.ts'
import type { BodyRoom } from './body-room.ts'
import { refusal } from './refusals.ts'

/** A request's body. */
export interface JsonBody {
  readonly value: unknown
  /** About how much work it is to go through it: {@link weightOf}. */
  readonly weight: number
}

/**
 * The JSON value of a request's body, of at most `limit` bytes, which is enforced while it is read, and within
 * {@link bodyBounds}, which are looked at before anything is built from it.
 * @param room takes account of the bytes for as long as the call lasts.
 * @throws GatewayError 413, 415, 429 (`room` is full), or 400 for what is no JSON or nests too deeply.
 */
export async function readJson(request: Request, limit: number, room: BodyRoom): Promise<JsonBody> {
  requireJson(request.headers)
  const bytes = await readBytes(request, limit, room)
  await turns.next(bytes.length)
  const text = await textOf(bytes)
  const { values, excess } = measureJson(text, bodyBounds)
  if (excess !== null) throw beyondBounds(excess)
  const weight = weightOf(bytes.length, values)
  await turns.next(weight)
  try {
    return { value: JSON.parse(text), weight }
  } catch (error) {
    throw refusal(
      'not-json',
      `The request's body is not JSON: ${(error as Error).message}.`,
      'Send one JSON object as the body.',
    )
  }
}

const byteOrderMark = '\uFEFF'

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

/** Bodies of this many bytes are let in before they have come. */
const smallBytes = 64 * 1024

async function readBytes(request: Request, limit: number, room: BodyRoom): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  try {
    const length = declared === null ? Number.POSITIVE_INFINITY : Number(declared)
    if (declared !== null && length > limit) throw tooLarge(limit)
    // Room is taken for what has come, not for what is announced: announcing costs nothing. What is small goes the short way.
    if (!(length <= smallBytes)) return await readStream(request, limit, room)
    room.take(length)
    const bytes = new Uint8Array(await request.arrayBuffer())
    if (bytes.length > limit) throw tooLarge(limit)
    return bytes
  } catch (error) {
    if (RatchetError.is(error)) throw error
    throw refusal('body-incomplete', "The request's body did not come to its end.", 'Send the request again.')
  }
}

/**
 * Pieces of one body, at most: so many, and one more for as many bytes. Each costs as much as hundreds of bytes.
 */
const mostPieces = 8_192
const bytesOfPiece = 256

async function readStream({ body }: Request, limit: number, room: BodyRoom): Promise<Uint8Array> {
  const gathered = new GatheredBytes()
  let pieces = 0
  if (body !== null) {
    for await (const piece of body) {
      pieces += 1
      if (gathered.length + piece.length > limit) throw tooLarge(limit)
      if (pieces > mostPieces + gathered.length / bytesOfPiece) throw tooManyPieces()
      room.take(piece.length)
      gathered.add(piece)
    }
  }
  return gathered.whole()
}

const tooManyPieces = () =>
  refusal(
    'too-many-pieces',
    `The request's body comes in pieces of a few bytes: more than ${mostPieces} of them.`,
    `Send it whole, with a content-length, or in chunks of ${bytesOfPiece} bytes or more.`,
    { status: 413 },
  )

async function textOf(bytes: Uint8Array): Promise<string> {
  if (!isUtf8(bytes)) throw refusal('not-utf-8', "The request's body is not UTF-8.", 'Encode the JSON as UTF-8.')
  const text = await textInParts(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  return text.startsWith(byteOrderMark) ? text.slice(1) : text
}
