import { type ChatChunk, wireToolCall } from '../../core/index.ts'
import type { Piece, Sampled } from './choice.ts'
import { type AnswerSetup, newCallId, tokenFacts, usageOf } from './wire.ts'

type ChunkChoice = ChatChunk['choices'][number]

/**
 * Writes an answer as the chunks of a stream: for each choice its role, then what it says with the tokens that say it, and
 * last why it ended; then, where it was asked for, the usage. Each sampled token is in one chunk.
 */
export class ChunkWriter {
  readonly #setup: AnswerSetup
  /** Calls told of each choice that has begun. */
  readonly #calls = new Map<number, number>()
  #tokens = 0

  constructor(setup: AnswerSetup) {
    this.#setup = setup
  }

  /** The chunks of a piece. A client that asked for text alone gets none where the text is not certain yet. */
  chunks(piece: Piece): readonly ChatChunk[] {
    const { choice: index, tokens, content, toolCalls, end } = piece
    const { tells } = this.#setup.asked
    const chunks: ChatChunk[] = []
    this.#tokens += tokens.length
    if (!this.#calls.has(index)) chunks.push(this.#opening(index))
    const says = content !== '' || toolCalls.length > 0
    if (says || (tokens.length > 0 && (tells.tokens || tells.logprobs))) {
      const calls = this.#toolCalls(piece)
      const delta = { ...(content === '' ? {} : { content }), ...(calls.length > 0 ? { tool_calls: calls } : {}) }
      chunks.push(this.#chunk({ index, delta, finish_reason: null, ...tokenFacts(this.#setup, piece, null) }))
    }
    if (end) {
      const facts = tokenFacts(this.#setup, nothing, end)
      chunks.push(this.#chunk({ index, delta: {}, finish_reason: end.finish, ...facts }))
    }
    return chunks
  }

  /** What follows when every choice has ended. */
  closing(): readonly ChatChunk[] {
    const { asked, prompt } = this.#setup
    if (!asked.tells.streamUsage) return []
    return [{ ...this.#head, choices: [], usage: usageOf(prompt.length, this.#tokens) }]
  }

  #opening(index: number): ChatChunk {
    const { asked, prompt } = this.#setup
    const first = this.#calls.size === 0
    this.#calls.set(index, 0)
    return {
      ...this.#chunk({ index, delta: { role: 'assistant', content: '' }, finish_reason: null }),
      ...(first && asked.tells.tokens ? { prompt_token_ids: [...prompt] } : {}),
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
