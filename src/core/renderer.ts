import type { AssistantMessage, Message, ToolDefinition } from './message.ts'

/**
 * The Renderer port: messages to tokens for one model family, and sampled tokens back to a message.
 * Extending a conversation never re-renders earlier tokens: the caller keeps the token list and appends.
 */
export interface Renderer {
  readonly name: string
  /** Ends a policy call: pass to {@link SamplingParams}. */
  readonly stop: { readonly strings: readonly string[]; readonly tokens: readonly number[] }
  /** Tokens of a conversation's opening, ready for the policy's first token. */
  start(messages: readonly Message[], tools: readonly ToolDefinition[]): readonly number[]
  /**
   * Tokens to append after the policy's sampled tokens (its stop token included, if it sampled one) so that `next` are
   * shown and the policy can speak again. `sampledStop` says whether the policy closed its own turn.
   */
  extend(next: readonly Message[], sampledStop: boolean): readonly number[]
  /** Reads what the policy sampled. Never throws on model output: calls that cannot be read are `malformedCalls`. */
  parse(tokens: readonly number[], tools: readonly ToolDefinition[]): AssistantMessage
  /** Tokens of an assistant turn as the policy would have had to sample it, its stop included: for demonstrations. */
  renderAssistant(message: AssistantMessage, tools: readonly ToolDefinition[]): readonly number[]
  decode(tokens: readonly number[]): string
}
