import { isAscii } from 'node:buffer'
import { StringDecoder } from 'node:string_decoder'
import { createParser, type EventSourceMessage, type EventSourceParser } from 'eventsource-parser'
import { atFirstIssue, ChatChunk, measureJson, mostCalls, plainChunk } from '../../core/index.ts'
import { answerBounds } from '../http/answer-bounds.ts'
import type { BodyReader, Incoming } from '../http/exchange.ts'
import { cut, malformed, tooLarge, unaskedChoice } from '../http/failures.ts'
import { Repair } from './repair.ts'
import type { UpstreamError } from '../http/upstream-error.ts'

export interface ChunkStreamOptions {
  readonly upstream: string
  /** The model that was asked for. */
  readonly model: string
  /** How many choices were asked for: without `[DONE]`, each must have ended. One with another index breaks the answer. */
  readonly choices: number
  /** The failure that an error object means; `null` for a value that is none. */
  failureIn(value: unknown): UpstreamError | null
  /** Told when the answer is complete; `toldTokens`: whether any chunk held token ids. */
  complete(toldTokens: boolean): void
}

/** One event may be this long, in characters: the token ids of a prompt of a million tokens are. */
const maxEventLength = 8 * 1024 * 1024
/** The upstream is held back while more than this, in characters, waits for the reader. */
const maxWaiting = 1024 * 1024

interface Waiting {
  resolve(result: IteratorResult<ChatChunk, undefined>): void
  reject(error: UpstreamError): void
}

const done = { done: true, value: undefined } as const

/** The chunks of a streamed answer, as they come. What came before a failure is handed over before it is thrown. */
export class ChunkStream implements AsyncIterableIterator<ChatChunk, undefined>, BodyReader {
  readonly #incoming: Incoming
  readonly #options: ChunkStreamOptions
  /** Whether all that came so far is: then no character can be cut in two. */
  #ascii = true
  readonly #decoder = new StringDecoder('utf8')
  readonly #parser: EventSourceParser
  readonly #repair: Repair
  #read = 0
  /** Chunks that nobody has taken, from `#next` on, and how long their events were. */
  #chunks: ChatChunk[] = []
  #next = 0
  #length = 0
  #paused = false
  #waiting: Waiting[] = []
  #state: 'open' | 'ending' | 'over' = 'open'
  #failure: UpstreamError | null = null
  #toldTokens = false
  readonly #begun = new Set<number>()
  readonly #finished = new Set<number>()
  /** Of each choice, the places of its tool calls. */
  readonly #calls = new Map<number, Set<number>>()

  constructor(incoming: Incoming, options: ChunkStreamOptions) {
    this.#incoming = incoming
    this.#options = options
    this.#repair = new Repair(options.model)
    this.#parser = createParser({
      maxBufferSize: maxEventLength,
      onEvent: (event) => this.#take(event),
      onError: ({ type }) => {
        if (type === 'max-buffer-size-exceeded') this.#break(tooLarge(options.upstream, 'event', maxEventLength))
      },
    })
    incoming.read(this)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<ChatChunk, undefined>> {
    const value = this.#chunks[this.#next]
    if (value !== undefined) {
      this.#next++
      if (this.#next === this.#chunks.length) this.#emptied()
      return Promise.resolve({ done: false, value })
    }
    const failure = this.#failure
    if (failure !== null) {
      this.#failure = null
      return Promise.reject(failure)
    }
    if (this.#state === 'over') return Promise.resolve(done)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  /** Cancels the upstream's work. */
  return(): Promise<IteratorResult<ChatChunk, undefined>> {
    if (this.#state !== 'over') this.#incoming.cancel()
    this.#chunks = []
    this.#failure = null
    this.#end()
    return Promise.resolve(done)
  }

  data(bytes: Buffer): void {
    if (this.#state !== 'open') return
    this.#ascii &&= isAscii(bytes)
    const text = this.#ascii ? bytes.toString('latin1') : this.#decoder.write(bytes)
    this.#parser.feed(this.#read === 0 ? text.replace(/^\uFEFF/, '') : text)
    this.#read += text.length
  }

  /** The body is over: complete only if every choice ended, since `[DONE]` did not come. */
  end(): void {
    if (this.#state !== 'open') return
    // What is left may lack the empty line that ends an event; if it is half an event, the answer was cut.
    this.#state = 'ending'
    this.#parser.feed(`${this.#decoder.end()}\n\n`)
    if (this.#over()) return
    if (this.#finished.size > 0 && this.#finished.size >= Math.max(this.#options.choices, this.#begun.size)) {
      this.#complete()
    } else {
      this.fail(cut(this.#options.upstream))
    }
  }

  fail(error: UpstreamError): void {
    if (this.#over()) return
    const [first] = this.#waiting.splice(0, 1)
    if (first) first.reject(error)
    else this.#failure = error
    this.#end()
  }

  #take({ event, data }: EventSourceMessage): void {
    if (this.#over()) return
    if (data === '[DONE]') return this.#doneSaid()
    const value = jsonOf(data)
    const plain = event === undefined || event === 'message' ? plainChunk(value) : null
    if (plain) return this.#push(plain, data.length)
    const parsed = ChatChunk.safeParse(value, atFirstIssue)
    if (parsed.success && event !== 'error') return this.#push(parsed.data, data.length)
    const failure = this.#options.failureIn(event === 'error' ? { error: value ?? data } : value)
    if (failure) return this.#break(failure)
    const mended = ChatChunk.safeParse(this.#repair.mend(value), atFirstIssue)
    if (mended.success) return this.#push(mended.data, data.length)
    // Servers send pings and the like under names of their own; half an event at the end was cut.
    if ((event !== undefined && event !== 'message') || this.#state === 'ending') return
    const problem = value === undefined ? 'an event that is not JSON' : 'an event that is no chat completion chunk'
    this.#break(malformed(this.#options.upstream, problem))
  }

  #push(chunk: ChatChunk, length: number): void {
    const unasked = chunk.choices.find(({ index }) => index >= this.#options.choices)
    if (unasked) return this.#break(malformed(this.#options.upstream, unaskedChoice(unasked.index)))
    this.#incoming.begun()
    for (const { index, finish_reason, token_ids, delta } of chunk.choices) {
      if (this.#callsOf(index, delta) > mostCalls) {
        return this.#break(malformed(this.#options.upstream, `more than ${mostCalls} tool calls in one answer`))
      }
      this.#begun.add(index)
      if (finish_reason) this.#finished.add(index)
      if (token_ids) this.#toldTokens = true
    }
    const [first] = this.#waiting
    if (first) {
      this.#waiting.shift()
      return first.resolve({ done: false, value: chunk })
    }
    this.#chunks.push(chunk)
    this.#length += length
    if (this.#length > maxWaiting && !this.#paused) {
      this.#paused = true
      this.#incoming.pause()
    }
  }

  /** @returns how many tool calls a choice has so far. */
  #callsOf(choice: number, { tool_calls }: ChatChunk['choices'][number]['delta']): number {
    if (!tool_calls) return 0
    const places = this.#calls.get(choice) ?? new Set()
    this.#calls.set(choice, places)
    for (const { index } of tool_calls) places.add(index)
    return places.size
  }

  #emptied(): void {
    this.#chunks = []
    this.#next = 0
    this.#length = 0
    if (!this.#paused) return
    this.#paused = false
    if (this.#state === 'open') this.#incoming.resume()
  }

  #doneSaid(): void {
    if (this.#begun.size === 0) return this.#break(malformed(this.#options.upstream, 'an answer without choices'))
    this.#incoming.drain()
    this.#complete()
  }

  #complete(): void {
    this.#options.complete(this.#toldTokens)
    this.#end()
  }

  /** Not the connection's failure but the answer's: nothing more of it is wanted. */
  #break(error: UpstreamError): void {
    this.#incoming.cancel()
    this.fail(error)
  }

  #end(): void {
    this.#state = 'over'
    for (const waiting of this.#waiting.splice(0)) waiting.resolve(done)
  }

  #over(): boolean {
    return this.#state === 'over'
  }
}

/** `undefined` for what is no JSON, is nested too deeply, or has too many values. */
function jsonOf(text: string): unknown {
  if (measureJson(text, answerBounds).excess !== null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
