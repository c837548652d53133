import type { ChatRequest, WireUsage } from '../../../core/index.ts'

/** Bytes of text that count as one token. */
const bytesPerToken = 4

/**
 * What the client sent and got, in estimated tokens. While a canary runs both arms' clients are told this: what the model
 * read tells the arm where a learned prompt is longer, and what a cache held tells which arm has less traffic.
 */
export function countedUsage(request: ChatRequest, answerBytes: number): WireUsage {
  const { messages, tools = null, functions = null } = request
  return usage(tokens(Buffer.byteLength(JSON.stringify([messages, tools, functions]))), tokens(answerBytes))
}

/** The upstream's numbers, without what tells more than how long the texts were. */
export function plainUsage({ prompt_tokens, completion_tokens }: WireUsage): WireUsage {
  return usage(prompt_tokens, completion_tokens)
}

const tokens = (bytes: number) => Math.ceil(bytes / bytesPerToken)

const usage = (prompt: number, completion: number): WireUsage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
})
