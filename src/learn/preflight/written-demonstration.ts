import {
  type Action,
  type AssistantMessage,
  canonicalJson,
  type Json,
  type Message,
  type Task,
  type ToolDefinition,
} from '../../core/index.ts'

/** A demonstration as it was given: the whole conversation, opening included, and its task where that is known. */
export interface WrittenDemonstration {
  readonly messages: readonly Message[]
  readonly task?: Pick<Task, 'id'>
  /** The tools that were at hand, where they are not the same in every task. */
  readonly tools?: readonly ToolDefinition[]
}

/** One turn of the assistant in a demonstration. */
export interface ShownTurn {
  readonly message: AssistantMessage
  /** What an environment is asked to do; `null` for a turn whose calls cannot be read. */
  readonly action: Action | null
  /** Where the turn is among the messages. */
  readonly at: number
  /** The messages between this turn and the next. */
  readonly observations: readonly Message[]
}

/** The turns of the assistant, in order. */
export function turnsOf(messages: readonly Message[]): readonly ShownTurn[] {
  const starts = messages.flatMap(({ role }, at) => (role === 'assistant' ? [at] : []))
  return starts.flatMap((at, i) => {
    const message = messages[at]
    if (message?.role !== 'assistant') return []
    return [{ message, action: actionOf(message), at, observations: messages.slice(at + 1, starts[i + 1]) }]
  })
}

function actionOf({ content, toolCalls = [], malformedCalls = [] }: AssistantMessage): Action | null {
  if (malformedCalls.length > 0) return null
  return toolCalls.length > 0 ? { kind: 'calls', calls: toolCalls } : { kind: 'message', content }
}

/** Whether the assistant does or says anything in this turn. */
export const acts = ({ message: { content, toolCalls = [], malformedCalls = [] } }: ShownTurn): boolean =>
  content.trim() !== '' || toolCalls.length + malformedCalls.length > 0

/** What a message says and does, as text that is equal for equal ones. Ids of calls and thoughts are no part of it. */
export function sayingOf(message: Message): string {
  const { role, content } = message
  const parts = message.parts ?? null
  switch (message.role) {
    case 'system':
    case 'user':
      return textOf([role, content, parts])
    case 'tool':
      return textOf([role, content, parts, message.name, message.isError === true])
    case 'assistant': {
      const calls = (message.toolCalls ?? []).map(({ name, arguments: given }) => [name, given])
      return textOf([role, content, parts, calls, (message.malformedCalls ?? []).map(({ text }) => text)])
    }
  }
}

/** JSON text turns what has none into `null`, so that hashing never throws. */
const textOf = (value: unknown): string => canonicalJson(JSON.parse(JSON.stringify(value)) as Json)

/** The name under which a turn is told: the tool of its last call, or `null` for a message. */
export const nameOf = ({ message }: ShownTurn): string | null => message.toolCalls?.at(-1)?.name ?? null

/** The names of tools as one text, equal for equal ones. */
export const namesOf = (tools: readonly ToolDefinition[]): string =>
  JSON.stringify(tools.map(({ name }) => name).toSorted())
