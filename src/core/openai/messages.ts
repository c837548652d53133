import { Json, maxJsonDepth } from '../json.ts'
import { maxJsonKeys, maxJsonValues, measureJson } from '../json-bounds.ts'
import type { AssistantMessage, MalformedCall, Message, ToolCall, ToolDefinition } from '../message.ts'
import type { WireMessage, WirePart, WireTool, WireToolCall } from './chat-request.ts'

/**
 * The message that a wire message says. Texts are joined; content of several parts, or of other parts than text, is kept
 * beside them. A `tool` message's name is that of the call it answers, from the messages before it.
 */
export function messagesOf(wire: readonly WireMessage[]): readonly Message[] {
  const names = new Map<string, string>()
  return wire.map((message): Message => {
    switch (message.role) {
      case 'system':
      case 'developer':
        return { role: 'system', ...contentOf(message.content) }
      case 'user':
        return { role: 'user', ...contentOf(message.content), ...(message.name ? { name: message.name } : {}) }
      case 'assistant': {
        for (const call of message.tool_calls ?? []) if (call.id !== undefined) names.set(call.id, call.function.name)
        return assistantMessageOf(message)
      }
      case 'tool':
        return {
          role: 'tool',
          ...contentOf(message.content),
          name: names.get(message.tool_call_id) ?? '',
          toolCallId: message.tool_call_id,
        }
    }
  })
}

/** What an assistant says on the wire, in an answer or in a history. */
export interface WireAnswer {
  readonly content?: string | readonly WirePart[] | null | undefined
  readonly refusal?: string | null | undefined
  readonly reasoning_content?: string | null | undefined
  readonly tool_calls?: readonly WireToolCall[] | null | undefined
}

/** How many JSON values may still be read from the arguments of calls. */
export interface ArgumentBudget {
  values: number
}

/**
 * Calls whose arguments are no JSON object are malformed: data, as the model wrote them.
 * @param budget of all messages that come together: many calls cost as much as one large one.
 */
export function assistantMessageOf(
  answer: WireAnswer,
  budget: ArgumentBudget = { values: maxJsonValues },
): AssistantMessage {
  const toolCalls: ToolCall[] = []
  const malformedCalls: MalformedCall[] = []
  for (const call of answer.tool_calls ?? []) {
    const read = toolCallOf(call, budget)
    if ('problem' in read) malformedCalls.push(read)
    else toolCalls.push(read)
  }
  return {
    role: 'assistant',
    ...contentOf(answer.content ?? ''),
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...(malformedCalls.length > 0 ? { malformedCalls } : {}),
    ...(answer.reasoning_content ? { reasoning: answer.reasoning_content } : {}),
    ...(answer.refusal ? { refusal: answer.refusal } : {}),
  }
}

/** Arguments that hold more are text that nobody reads as arguments. */
function toolCallOf(
  { id, function: { name, arguments: text } }: WireToolCall,
  budget: ArgumentBudget,
): ToolCall | MalformedCall {
  const { values, excess } = measureJson(text, { depth: maxJsonDepth, values: budget.values, keys: maxJsonKeys })
  budget.values = Math.max(0, budget.values - values)
  if (excess !== null) {
    const problem = excess === 'depth' ? 'The arguments nest too deeply.' : 'The arguments have too many values.'
    return { text: `${name}(${text})`, problem }
  }
  let value: unknown
  try {
    // Models that call a tool without arguments often write nothing.
    value = text.trim() === '' ? {} : JSON.parse(text)
  } catch (error) {
    return { text: `${name}(${text})`, problem: `The arguments are not JSON: ${(error as Error).message}` }
  }
  const parsed = Json.safeParse(value)
  if (name === '') return { text: `${name}(${text})`, problem: 'The call names no tool.' }
  if (!parsed.success || typeof parsed.data !== 'object' || parsed.data === null || Array.isArray(parsed.data)) {
    return { text: `${name}(${text})`, problem: 'The arguments are not a JSON object.' }
  }
  return { ...(id === undefined ? {} : { id }), name, arguments: parsed.data as ToolCall['arguments'] }
}

function contentOf(content: string | readonly WirePart[]): Pick<Message, 'content' | 'parts'> {
  if (typeof content === 'string') return { content }
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []))
  const [only] = texts
  if (content.length === 1 && only !== undefined) return { content: only }
  return { content: texts.join(''), parts: [...content] as Record<string, Json>[] }
}

/** The tools of a request, as the policy sees them. */
export function toolsOf(wire: readonly WireTool[]): readonly ToolDefinition[] {
  return wire.map(({ function: { name, description, parameters } }) => ({
    name,
    description: description ?? '',
    parameters: { ...(parameters ?? { type: 'object', properties: {} }) },
  }))
}

/** A tool call as it travels. A call without an id gets `fallback`, since clients answer by it. */
export function wireToolCall(call: ToolCall, fallback: string): WireToolCall {
  return {
    id: call.id ?? fallback,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }
}
