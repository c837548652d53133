import type { AssistantMessage, MalformedCall, ToolCall, ToolDefinition } from '../../core/index.ts'

/** A named way of writing tool calls as text. */
export interface Dialect {
  readonly name: string
  /**
   * Reads one turn of the policy, the token that ended it removed. Never throws: what cannot be read is a
   * `malformedCall` with the reason.
   */
  read(text: string, tools: readonly ToolDefinition[]): AssistantMessage
}

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
