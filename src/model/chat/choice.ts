import type { MalformedCall, SampledSequence, SampleStopReason, ToolCall, TurnReader } from '../../core/index.ts'

/** Tokens as they were sampled; the arrays have equal length. */
export type Sampled = Pick<SampledSequence, 'tokens' | 'behaviourLogprobs' | 'logprobs'>

/** The next that is known of a choice: tokens, and what is certain of what they say. */
export interface Piece extends Sampled {
  readonly choice: number
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
  /** With the last one. */
  readonly end: ChoiceEnd | null
}

/** How a choice ended. */
export interface ChoiceEnd {
  readonly finish: 'stop' | 'length' | 'tool_calls'
  /** Calls that nobody can read; their text is the end of the content. */
  readonly malformedCalls: readonly MalformedCall[]
  /** Whether the policy closed its turn itself. */
  readonly closedTurn: boolean
}

/** What a choice is read with. */
export interface ChoiceSetup {
  readonly index: number
  readonly reader: TurnReader
  /** Tokens that close a turn. */
  readonly stopTokens: readonly number[]
  /**
   * Whether the choice ends with the token that completes its first call. What was sampled after it is let go: whether the
   * answer ends there depends on nothing later, so that what is kept is a sample as it stands.
   */
  readonly oneCall: boolean
}

/** Reads one answer as it is sampled. */
export class Choice {
  readonly #setup: ChoiceSetup
  #last: number | undefined
  #content = ''
  #calls = 0
  #ended = false

  constructor(setup: ChoiceSetup) {
    this.#setup = setup
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Takes the next tokens, which count for nothing once the choice has ended. */
  take(sampled: Sampled): readonly Piece[] {
    if (this.#ended || sampled.tokens.length === 0) return []
    if (!this.#setup.oneCall) return [this.#read(sampled)]
    const pieces: Piece[] = []
    for (let i = 0; i < sampled.tokens.length && !this.#ended; i++) {
      pieces.push(this.#read(slice(sampled, i, i + 1)))
      if (this.#calls > 0) pieces.push(this.end('stop'))
    }
    return pieces
  }

  /** No more tokens come. */
  end(reason: Exclude<SampleStopReason, 'cancelled'>): Piece {
    this.#ended = true
    const { content, toolCalls = [], malformedCalls = [] } = this.#setup.reader.end()
    const text = [content, ...malformedCalls.map((call) => call.text)].filter((part) => part !== '').join('\n')
    const finish = reason === 'stop' && toolCalls.length > 0 ? 'tool_calls' : reason
    const closedTurn = this.#last !== undefined && this.#setup.stopTokens.includes(this.#last)
    return {
      ...this.#piece(none, text.slice(this.#content.length), toolCalls.slice(this.#calls)),
      end: { finish, malformedCalls, closedTurn },
    }
  }

  #read(sampled: Sampled): Piece {
    this.#last = sampled.tokens.at(-1)
    const { content, toolCalls } = this.#setup.reader.push(sampled.tokens)
    this.#content += content
    this.#calls += toolCalls.length
    return this.#piece(sampled, content, toolCalls)
  }

  #piece({ tokens, behaviourLogprobs, logprobs }: Sampled, content: string, toolCalls: readonly ToolCall[]): Piece {
    return { choice: this.#setup.index, tokens, behaviourLogprobs, logprobs, content, toolCalls, end: null }
  }
}

const none: Sampled = { tokens: [], behaviourLogprobs: [], logprobs: [] }

/** A part of what was sampled. */
export function slice({ tokens, behaviourLogprobs, logprobs }: Sampled, from: number, to?: number): Sampled {
  return {
    tokens: tokens.slice(from, to),
    behaviourLogprobs: behaviourLogprobs.slice(from, to),
    logprobs: logprobs.slice(from, to),
  }
}
