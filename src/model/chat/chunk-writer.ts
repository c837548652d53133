import { type ChatChunk, wireToolCall } from '../../core/index.ts'
import type { Piece, Sampled } from './choice.ts'
import { type AnswerSetup, newCallId, tokenFacts, usageOf } from './wire.ts'

type ChunkChoice = ChatChunk['choices'][number]

/** Tokens that no chunk has told yet: what they say was not certain. */
interface Untold {
  readonly tokens: number[]
  readonly behaviourLogprobs: number[]
  readonly logprobs: number[]
}

/**
 * Writes an answer as the chunks of a stream: for each choice its role, then what it says with the tokens that say it, and
 * last why it ended; then the usage. Each sampled token is in one chunk.
 */
export class ChunkWriter {
  readonly #setup: AnswerSetup
  /** Calls told of each choice that has begun. */
  readonly #calls = new Map<number, number>()
  readonly #untold = new Map<number, Untold>()
  #tokens = 0

  constructor(setup: AnswerSetup) {
    this.#setup = setup
  }

  /** The chunks of a piece; none where what its tokens say is not certain yet. */
  chunks(piece: Piece): readonly ChatChunk[] {
    const { choice: index, tokens, content, toolCalls, end } = piece
    const chunks: ChatChunk[] = []
    this.#tokens += tokens.length
    if (!this.#calls.has(index)) chunks.push(this.#opening(index))
    this.#hold(piece)
    if (content !== '' || toolCalls.length > 0) {
      const calls = this.#toolCalls(piece)
      const delta = { ...(content === '' ? {} : { content }), ...(calls.length > 0 ? { tool_calls: calls } : {}) }
      const facts = tokenFacts(this.#setup, this.#tellAll(index), null)
      chunks.push(this.#chunk({ index, delta, finish_reason: null, ...facts }))
    }
    if (end) {
      const facts = tokenFacts(this.#setup, this.#tellAll(index), end)
      chunks.push(this.#chunk({ index, delta: {}, finish_reason: end.finish, ...facts }))
    }
    return chunks
  }

  /** What follows when every choice has ended. */
  closing(): readonly ChatChunk[] {
    return [{ ...this.#head, choices: [], usage: usageOf(this.#setup.prompt.length, this.#tokens) }]
  }

  #hold({ choice, tokens, behaviourLogprobs, logprobs }: Piece): void {
    const untold = this.#untold.get(choice) ?? { tokens: [], behaviourLogprobs: [], logprobs: [] }
    this.#untold.set(choice, untold)
    for (const token of tokens) untold.tokens.push(token)
    for (const logprob of behaviourLogprobs) untold.behaviourLogprobs.push(logprob)
    for (const logprob of logprobs) untold.logprobs.push(logprob)
  }

  #tellAll(choice: number): Sampled {
    const untold = this.#untold.get(choice) ?? nothing
    this.#untold.delete(choice)
    return untold
  }

  #opening(index: number): ChatChunk {
    const first = this.#calls.size === 0
    this.#calls.set(index, 0)
    return {
      ...this.#chunk({ index, delta: { role: 'assistant', content: '' }, finish_reason: null }),
      ...(first ? { prompt_token_ids: [...this.#setup.prompt] } : {}),
    }
  }

  #toolCalls({ choice, toolCalls }: Piece) {
    const told = this.#calls.get(choice) ?? 0
    this.#calls.set(choice, told + toolCalls.length)
    return toolCalls.map((call, i) => ({ index: told + i, ...wireToolCall(call, newCallId()) }))
  }

  #chunk(choice: ChunkChoice): ChatChunk {
    return { ...this.#head, choices: [choice] }
  }

  get #head() {
    return { object: 'chat.completion.chunk', ...this.#setup.head } as const
  }
}

const nothing: Sampled = { tokens: [], behaviourLogprobs: [], logprobs: [] }
