import type { Grammar } from './grammar.ts'
import type { AssistantMessage, Message, ToolCall, ToolDefinition } from './message.ts'

/** What of a turn has become certain: its next text, and the next of its calls that are complete. */
export interface TurnDelta {
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
}

/** Reads one turn of the policy as it is sampled. */
export interface TurnReader {
  /** Takes the next tokens. What it tells stays true whatever follows: together, a beginning of what `end` returns. */
  push(tokens: readonly number[]): TurnDelta
  /** The turn as far as it came; called once. Never throws on model output. */
  end(): AssistantMessage
}

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
  /**
   * Begins to read a turn that is being sampled. Without `stop` its end says what {@link Renderer.parse} says.
   * @param stop the text of the turn ends before the first of these that it completes, as if nothing came after.
   */
  read(tools: readonly ToolDefinition[], stop: readonly string[]): TurnReader
  /**
   * The turns that are calls of these tools and nothing else, one or more, with arguments that their parameters accept;
   * `null` where the model's form of a call is not known. Absent where no grammar can say this renderer's form.
   * @param several whether there may be more than one.
   */
  forcedCalls?(tools: readonly ToolDefinition[], several: boolean): Grammar | null
  /** Tokens of an assistant turn as the policy would have had to sample it, its stop included: for demonstrations. */
  renderAssistant(message: AssistantMessage, tools: readonly ToolDefinition[]): readonly number[]
  decode(tokens: readonly number[]): string
  /** The bytes that a token adds to the text, in UTF-8: of some tokens, a part of a character. */
  bytes(token: number): Uint8Array
}
