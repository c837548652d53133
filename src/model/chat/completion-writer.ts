import { type ChatCompletion, type ToolCall, wireToolCall } from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { ChoiceEnd, Piece } from './choice.ts'
import { type AnswerSetup, newCallId, tokenFacts, usageOf } from './wire.ts'

/** A choice as it grows. */
interface Draft {
  readonly tokens: number[]
  readonly behaviourLogprobs: number[]
  readonly logprobs: number[]
  readonly toolCalls: ToolCall[]
  content: string
  end: ChoiceEnd | null
}

/** Puts the pieces of an answer together as a whole one. */
export class CompletionWriter {
  readonly #setup: AnswerSetup
  readonly #drafts: readonly Draft[]

  constructor(setup: AnswerSetup) {
    this.#setup = setup
    this.#drafts = Array.from({ length: setup.asked.choices }, () => ({
      tokens: [],
      behaviourLogprobs: [],
      logprobs: [],
      toolCalls: [],
      content: '',
      end: null,
    }))
  }

  add(piece: Piece): void {
    const draft = present(this.#drafts[piece.choice], `choice ${piece.choice}`)
    for (const key of ['tokens', 'behaviourLogprobs', 'logprobs'] as const)
      for (const value of piece[key]) draft[key].push(value)
    draft.content += piece.content
    draft.toolCalls.push(...piece.toolCalls)
    draft.end = piece.end
  }

  /** The answer, when every choice has ended. */
  completion(): ChatCompletion {
    const { head, prompt } = this.#setup
    const completionTokens = this.#drafts.reduce((sum, { tokens }) => sum + tokens.length, 0)
    return {
      object: 'chat.completion',
      ...head,
      choices: this.#drafts.map((draft, index) => this.#choice(draft, index)),
      usage: usageOf(prompt.length, completionTokens),
      prompt_token_ids: [...prompt],
    }
  }

  #choice(draft: Draft, index: number): ChatCompletion['choices'][number] {
    const calls = draft.toolCalls.map((call) => wireToolCall(call, newCallId()))
    return {
      index,
      message: {
        role: 'assistant',
        content: calls.length > 0 && draft.content === '' ? null : draft.content,
        refusal: null,
        ...(calls.length > 0 ? { tool_calls: calls } : {}),
      },
      finish_reason: present(draft.end, `the end of choice ${index}`).finish,
      ...tokenFacts(this.#setup, draft, draft.end),
    }
  }
}
