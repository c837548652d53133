import { type AnswerRoom, GatheredBytes, Json, measureJson, textInParts, turns, weightOf } from '../../core/index.ts'
import { answerBounds } from './answer-bounds.ts'
import type { Incoming } from './exchange.ts'
import { malformed } from './failures.ts'

/** An error's body is read as far as this. */
const maxErrorBytes = 64 * 1024

/** Answers of so many bytes need no room: there are no more of them at once than calls. */
const smallBytes = 64 * 1024

/** The JSON of an answer, and about how much work it is to go through it. */
export interface AnswerJson {
  readonly value: unknown
  readonly weight: number
}

/**
 * The JSON of an answer. A large one is read in parts, and others are served between them.
 * @throws UpstreamError when it is cut off, too large, or no JSON; what `room` throws.
 */
export async function readJson(incoming: Incoming, upstream: string, room?: AnswerRoom): Promise<AnswerJson> {
  const bytes = await readBytes(incoming, { room })
  await turns.next(bytes.length)
  const text = await textInParts(bytes)
  await turns.next(bytes.length)
  const { values, excess } = measureJson(text, answerBounds)
  if (excess === 'depth') throw malformed(upstream, 'JSON that is nested too deeply')
  if (excess !== null) throw malformed(upstream, 'JSON of too many values')
  const weight = weightOf(bytes.length, values)
  await turns.next(weight)
  try {
    return { value: JSON.parse(text), weight }
  } catch {
    const type = (incoming.headers['content-type'] ?? 'of no type').slice(0, 100)
    throw malformed(upstream, `${bytes.length} bytes that are not JSON (${type})`)
  }
}

/** What an error says; `null` when it is too long, is cut off, or no JSON. */
export async function readErrorBody(incoming: Incoming): Promise<Json | null> {
  try {
    const value = Json.safeParse(JSON.parse((await readBytes(incoming, { limit: maxErrorBytes })).toString('utf8')))
    return value.success ? value.data : null
  } catch {
    return null
  }
}

/** Rejects when it is longer than `limit`, finds no room, or is cut off. */
export function readBytes(
  incoming: Incoming,
  { limit = Number.POSITIVE_INFINITY, room }: { readonly limit?: number; readonly room?: AnswerRoom | undefined } = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes()
    let begun = false
    const refuse = (why: unknown) => {
      incoming.cancel()
      reject(why)
    }
    incoming.read({
      data(piece) {
        // While a request waits, some servers send empty lines.
        if (!begun && piece.some((byte) => byte > 0x20)) {
          begun = true
          incoming.begun()
        }
        gathered.add(piece)
        if (gathered.length > limit) return refuse(new RangeError(`more than ${limit} bytes`))
        if (gathered.length <= smallBytes) return
        try {
          room?.take(piece.length)
        } catch (full) {
          refuse(full)
        }
      },
      end: () => resolve(gathered.whole()),
      fail: reject,
    })
  })
}
