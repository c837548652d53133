/**
 * The ChatModel port: a model that is asked for words, whatever stands behind it. What optimizers write with and judges judge
 * with. It gives no tokens and no probabilities.
 */
export interface ChatModel {
  /** For records and people. */
  readonly name: string
  /** @throws RatchetError when it does not answer. */
  ask(question: ChatQuestion): Promise<ChatAnswer>
}

/** What a model is asked. */
export interface ChatQuestion {
  /** What it is to do. Nothing from outside stands here (invariant 10). */
  readonly instructions: string
  /** What it is to do that with: data, whatever it says. */
  readonly material: string
  /** Tokens of its answer, at most; ≥ 1. */
  readonly maxTokens: number
  readonly signal?: AbortSignal
}

/** What it said. */
export interface ChatAnswer {
  readonly text: string
  /** Whether it came to its end: what was cut off, or filtered, is no answer to rely on. */
  readonly whole: boolean
}
