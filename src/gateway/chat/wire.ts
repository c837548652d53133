import type { ChatChunk, ChatCompletion } from '../../core/index.ts'
import type { Problem } from '../http/problem.ts'

/** How one of the OpenAI APIs tells its clients an answer: only what they asked for, under the record's id. */
export interface Wire {
  /** The id that the client knows the answer by. */
  readonly id: string
  /** The body of a whole answer, as JSON text. */
  whole(completion: ChatCompletion): string
  /** A new stream of events. */
  stream(): WireStream
}

/** The events of one streamed answer, as text; `''` where there is nothing to say. */
export interface WireStream {
  /** Before the first chunk, which is known already; `null` when none comes. */
  open(first: ChatChunk | null): string
  chunk(chunk: ChatChunk): string
  /** After the last, and after the commit: in pieces, since some events tell the whole answer again. */
  done(): Iterable<string>
  /** In the place of all that is left, when the answer cannot be brought to its end. */
  failed(problem: Problem): string
}
