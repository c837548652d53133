import { GatheredBytes } from '../../core/index.ts'
import { requestError } from '../errors.ts'
import { protobufType } from '../wire/write-protobuf.ts'

/** A body as it came. */
export type Body =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'protobuf'; readonly bytes: Uint8Array }

/** Reads a body of at most so many bytes, which is enforced while it comes. @throws TrainerRequestError 400, 413, 415 */
export async function readRequest(request: Request, limit: number): Promise<Body> {
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') {
    throw requestError('encoded', `The request's body is encoded with ${encoding.slice(0, 50)}.`, 'Send it as it is.', {
      status: 415,
      field: 'content-encoding',
    })
  }
  const bytes = await gathered(request, limit)
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? 'application/json'
  if (type === protobufType) return { type: 'protobuf', bytes }
  if (type !== 'application/json') {
    throw requestError('wrong-type', `A body of the type ${type.slice(0, 100)} is not read here.`, 'Send JSON.', {
      status: 415,
      field: 'content-type',
    })
  }
  try {
    return { type: 'json', value: bytes.length === 0 ? {} : JSON.parse(bytes.toString('utf8')) }
  } catch (cause) {
    const why = (cause as Error).message.slice(0, 200)
    throw requestError(
      'not-json',
      `The request's body is no JSON: ${why}.`,
      'NaN and infinities are no JSON: send numbers.',
    )
  }
}

async function gathered({ body, headers }: Request, limit: number): Promise<Buffer> {
  if (Number(headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  const bytes = new GatheredBytes()
  if (body === null) return bytes.whole()
  for await (const piece of body) {
    if (bytes.length + piece.length > limit) throw tooLarge(limit)
    bytes.add(piece)
  }
  return bytes.whole()
}

const tooLarge = (limit: number) =>
  requestError(
    'body-too-large',
    `The request's body is larger than ${limit} bytes.`,
    'Send the data in several requests: gradients add up until optim_step.',
    { status: 413 },
  )
