import type { AssistantMessage, Grammar, MalformedCall, ToolCall, ToolDefinition, TurnDelta } from '../../core/index.ts'

/** A named way of writing tool calls as text. */
export interface Dialect {
  readonly name: string
  /**
   * Reads one turn of the policy, the token that ended it removed. Never throws: what cannot be read is a
   * `malformedCall` with the reason.
   */
  read(text: string, tools: readonly ToolDefinition[]): AssistantMessage
  /** See `Renderer.forcedCalls`: absent where they cannot be said. */
  forcedCalls?(tools: readonly ToolDefinition[], several: boolean): Grammar
  /** Begins to read a turn as it comes. What it tells is a beginning of what {@link Dialect.read} says of the whole. */
  reader(tools: readonly ToolDefinition[]): DialectReader
}

/** Reads one turn piece by piece. */
export interface DialectReader {
  /** What the text so far makes certain, beyond what was told before. */
  push(text: string): TurnDelta
}

/** For dialects in which the end of a turn decides what its beginning is. */
export const untilTheEnd: DialectReader = { push: () => ({ content: '', toolCalls: [] }) }

/** A turn's message; lists that are empty are left out. */
export function turn(
  content: string,
  toolCalls: readonly ToolCall[] = [],
  malformedCalls: readonly MalformedCall[] = [],
): AssistantMessage {
  return {
    role: 'assistant',
    content,
    ...(toolCalls.length > 0 ? { toolCalls: [...toolCalls] } : {}),
    ...(malformedCalls.length > 0 ? { malformedCalls: [...malformedCalls] } : {}),
  }
}

/** Why no tool of that name can be called. */
export function unknownTool(name: string, tools: readonly ToolDefinition[]): string {
  const known = tools.length === 0 ? 'there are none' : `there are ${tools.map((tool) => tool.name).join(', ')}`
  return `There is no tool ${JSON.stringify(name)}: ${known}.`
}
