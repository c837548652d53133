import { Json, measureJson } from '../../core/index.ts'
import { answerBounds } from './answer-bounds.ts'
import type { Incoming } from './exchange.ts'
import { malformed } from './failures.ts'

/** An error's body is read as far as this. */
const maxErrorBytes = 64 * 1024

/**
 * The JSON of an answer.
 * @throws UpstreamError when it is cut off, too large, or no JSON.
 */
export async function readJson(incoming: Incoming, upstream: string): Promise<unknown> {
  const bytes = await readBytes(incoming)
  const text = bytes.toString('utf8')
  const { excess } = measureJson(text, answerBounds)
  if (excess === 'depth') throw malformed(upstream, 'JSON that is nested too deeply')
  if (excess !== null) throw malformed(upstream, 'JSON of too many values')
  try {
    return JSON.parse(text)
  } catch {
    const type = (incoming.headers['content-type'] ?? 'of no type').slice(0, 100)
    throw malformed(upstream, `${bytes.length} bytes that are not JSON (${type})`)
  }
}

/** What an error says; `null` when it is too long, is cut off, or no JSON. */
export async function readErrorBody(incoming: Incoming): Promise<Json | null> {
  try {
    const value = Json.safeParse(JSON.parse((await readBytes(incoming, maxErrorBytes)).toString('utf8')))
    return value.success ? value.data : null
  } catch {
    return null
  }
}

/** Rejects when it is longer than `limit`, or is cut off. */
function readBytes(incoming: Incoming, limit = Number.POSITIVE_INFINITY): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let length = 0
    let begun = false
    incoming.read({
      data(piece) {
        // While a request waits, some servers send empty lines.
        if (!begun && piece.some((byte) => byte > 0x20)) {
          begun = true
          incoming.begun()
        }
        length += piece.length
        pieces.push(piece)
        if (length <= limit) return
        incoming.cancel()
        reject(new RangeError(`more than ${limit} bytes`))
      },
      end: () => resolve(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)),
      fail: reject,
    })
  })
}
