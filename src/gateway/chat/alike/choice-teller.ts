import type { ChatChunk, FinishReason, WireLogprobs } from '../../../core/index.ts'
import { finishOf } from '../accumulator.ts'
import { Words } from './words.ts'

type ChunkChoice = ChatChunk['choices'][number]
type Delta = ChunkChoice['delta']
type TokenLogprob = NonNullable<WireLogprobs['content']>[number]

/** What a piece of text is a part of: words, a refusal, thoughts, or the arguments of the call at a place. */
type Kind = 'content' | 'refusal' | 'reasoning_content' | number

interface SeenCall {
  readonly index: number
  name: string
  /** What came before its name. */
  held: string
  told: boolean
}

/**
 * Tells one choice of a stream in pieces of its own, from a list of fields: `role` first, then words, and why it ended in a
 * chunk by itself. Whichever upstream speaks, the same answer gives the same chunks.
 */
export class ChoiceTeller {
  readonly #index: number
  readonly #callId: (call: number) => string
  readonly #words = new Words()
  readonly #calls = new Map<number, SeenCall>()
  readonly #logprobs: TokenLogprob[] = []
  readonly #tokens: number[] = []
  #kind: Kind = 'content'
  #opened = false
  #bytes = 0
  /** Characters that were told, and those of tokens whose log-probability was. */
  #toldLength = 0
  #tokensLength = 0

  constructor(index: number, callId: (call: number) => string) {
    this.#index = index
    this.#callId = callId
  }

  /** How much was said, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  take({ delta, finish_reason, logprobs, token_ids }: ChunkChoice): readonly ChunkChoice[] {
    const told: ChunkChoice[] = []
    // One by one: there may be more than a call takes arguments.
    const tell = (pieces: readonly ChunkChoice[]) => {
      for (const piece of pieces) told.push(piece)
    }
    if (!this.#opened) told.push(this.#choice({ role: 'assistant', content: '' }))
    this.#opened = true
    for (const logprob of logprobs?.content ?? []) this.#logprobs.push(logprob)
    for (const token of token_ids ?? []) this.#tokens.push(token)
    const { content, refusal, tool_calls } = delta
    const reasoning = delta.reasoning_content ?? delta['reasoning']
    if (typeof reasoning === 'string') tell(this.#say('reasoning_content', reasoning))
    if (content) tell(this.#say('content', content))
    if (refusal) tell(this.#say('refusal', refusal))
    for (const { index, function: called } of tool_calls ?? []) tell(this.#call(index, called))
    tell(this.#legacyCall(delta))
    if (finish_reason) tell(this.#finish(finish_reason))
    return told
  }

  /** What is held back, where nothing more comes. */
  flush(): readonly ChunkChoice[] {
    const unnamed = [...this.#calls.values()].filter(({ told }) => !told)
    return [
      ...this.#turnTo(this.#kind),
      ...unnamed.flatMap((call) => [...this.#openCall(call), ...this.#turnTo(this.#kind)]),
    ]
  }

  #finish(said: string): readonly ChunkChoice[] {
    const told = [...this.flush()]
    const left = this.#logprobs.splice(0)
    const finish_reason = alikeFinish(said, this.#calls.size > 0)
    const token_ids = this.#tokens.splice(0)
    told.push({ ...this.#choice({}, left), finish_reason, ...(token_ids.length > 0 ? { token_ids } : {}) })
    return told
  }

  #say(kind: Kind, text: string): readonly ChunkChoice[] {
    if (text === '') return []
    const before = kind === this.#kind ? [] : this.#turnTo(kind)
    return [...before, ...this.#words.add(text).map((piece) => this.#piece(piece))]
  }

  /** Ends what is being said, so that something else can be. */
  #turnTo(kind: Kind): readonly ChunkChoice[] {
    const rest = this.#words.end()
    const told = rest === '' ? [] : [this.#piece(rest)]
    this.#kind = kind
    return told
  }

  #piece(text: string): ChunkChoice {
    // Not as it comes: between two pieces of the upstream's, half a character has bytes of its own.
    this.#bytes += Buffer.byteLength(text)
    const kind = this.#kind
    if (typeof kind === 'number') {
      return this.#choice({ tool_calls: [{ index: kind, function: { arguments: text } }] })
    }
    return this.#choice({ [kind]: text }, kind === 'content' ? this.#logprobsUpTo(text) : [])
  }

  /** Those of the tokens that end in what is told by then. */
  #logprobsUpTo(text: string): readonly TokenLogprob[] {
    this.#toldLength += text.length
    let count = 0
    for (const { token } of this.#logprobs) {
      if (this.#tokensLength + token.length > this.#toldLength) break
      this.#tokensLength += token.length
      count += 1
    }
    return this.#logprobs.splice(0, count)
  }

  #call(
    place: number,
    called: { readonly name?: string | null | undefined; readonly arguments?: string | null | undefined } | null = {},
  ): readonly ChunkChoice[] {
    let call = this.#calls.get(place)
    if (!call) this.#calls.set(place, (call = { index: this.#calls.size, name: '', held: '', told: false }))
    if (called?.name && !call.told) call.name = called.name
    const text = called?.arguments ?? ''
    if (call.told) return this.#say(call.index, text)
    call.held += text
    return call.name === '' ? [] : this.#openCall(call)
  }

  #openCall(call: SeenCall): readonly ChunkChoice[] {
    const { index, name, held } = call
    call.told = true
    this.#bytes += Buffer.byteLength(name)
    const before = this.#turnTo(index)
    const made = { index, id: this.#callId(index), type: 'function', function: { name, arguments: '' } }
    return [...before, this.#choice({ tool_calls: [made] }), ...this.#say(index, held)]
  }

  /** `function_call`, which tool calls replaced, goes on as it comes. */
  #legacyCall(delta: Delta): readonly ChunkChoice[] {
    const called = delta['function_call']
    if (typeof called !== 'object' || called === null) return []
    const function_call = alikeLegacyCall(called)
    this.#bytes += Buffer.byteLength(JSON.stringify(function_call))
    return [...this.#turnTo('content'), this.#choice({ function_call })]
  }

  #choice(delta: Delta, logprobs: readonly TokenLogprob[] = []): ChunkChoice {
    return { index: this.#index, delta, logprobs: alikeLogprobs(logprobs), finish_reason: null }
  }
}

/** Fields of the API's own, each there whoever told it. */
export function alikeLogprobs(told: readonly TokenLogprob[]): WireLogprobs | null {
  if (told.length === 0) return null
  const entry = ({ token, logprob, bytes }: TokenLogprob) => ({
    token,
    logprob,
    bytes: Array.isArray(bytes) ? (bytes as unknown[]) : [...Buffer.from(token)],
  })
  const content = told.map((one) => ({
    ...entry(one),
    top_logprobs: (Array.isArray(one['top_logprobs']) ? (one['top_logprobs'] as TokenLogprob[]) : []).map(entry),
  }))
  return { content, refusal: null }
}

/** Why an answer ended, in the API's words: servers have their own, and some say `stop` of a call. */
export function alikeFinish(said: string | null, calls: boolean): FinishReason | 'function_call' {
  if (said === 'function_call') return said
  const finish = finishOf(said)
  return finish === 'stop' && calls ? 'tool_calls' : finish
}

/** `function_call`, with the fields that it has in the API. */
export function alikeLegacyCall(called: unknown): { readonly name?: string; readonly arguments?: string } {
  const { name, arguments: text } = called as { readonly name?: unknown; readonly arguments?: unknown }
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof text === 'string' ? { arguments: text } : {}),
  }
}
