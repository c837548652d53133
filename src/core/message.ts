import { z } from 'zod'
import { JsonObject } from './json.ts'

/** A call of one tool that the dialect understood. `arguments` are not yet checked against the tool's own schema. */
export const ToolCall = z.strictObject({
  id: z.string().optional(),
  name: z.string().min(1),
  arguments: JsonObject,
})
export type ToolCall = z.infer<typeof ToolCall>

/** A tool call that the dialect could not read. Data, never an exception: counted and scored. */
export const MalformedCall = z.strictObject({
  /** The text as sampled. */
  text: z.string(),
  /** Why it could not be read, one sentence. */
  problem: z.string(),
})
export type MalformedCall = z.infer<typeof MalformedCall>

/**
 * The content as it was given, where it was more than one text: text, images, audio, files, in their order and in the wire
 * form of the OpenAI API. `content` then holds the texts, joined.
 */
const parts = z.array(JsonObject).optional()

/** One message of a conversation. */
export const Message = z.discriminatedUnion('role', [
  /** Instructions from whoever wrote the agent; the OpenAI API's `developer` role is this one by a newer name. */
  z.strictObject({ role: z.literal('system'), content: z.string(), parts }),
  /** `name` tells several users apart. */
  z.strictObject({ role: z.literal('user'), content: z.string(), parts, name: z.string().optional() }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string(),
    parts,
    toolCalls: z.array(ToolCall).optional(),
    malformedCalls: z.array(MalformedCall).optional(),
    /** What the model thought before it answered, where the endpoint tells. */
    reasoning: z.string().optional(),
    /** Why it would not answer. */
    refusal: z.string().optional(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    content: z.string(),
    parts,
    name: z.string(),
    toolCallId: z.string().optional(),
    isError: z.boolean().optional(),
  }),
])
export type Message = z.infer<typeof Message>

/** The name that a message has which we put into a conversation in the user's place: it says what was remembered. */
export const rememberedBy = 'ratchet-memory'

/**
 * Whether a person, or the program that speaks for one, said it. What we put there ourselves is nobody's wish: it is never
 * learned from as the user's.
 */
export const isUsers = (message: Message): boolean => message.role === 'user' && message.name !== rememberedBy

/** Whether a tool answered a call with an error. */
export const isRefusal = (message: Message): boolean => message.role === 'tool' && message.isError === true

/** What the policy says in one turn. */
export type AssistantMessage = Extract<Message, { role: 'assistant' }>

/** A tool as the policy sees it. */
export const ToolDefinition = z.strictObject({
  /** What clients may call a tool: stores must be able to hold it. Some servers' names have dots or begin with a digit. */
  name: z.string().regex(/^[A-Za-z0-9_][\w.-]{0,63}$/),
  description: z.string(),
  /** JSON Schema of the arguments object. */
  parameters: JsonObject,
})
export type ToolDefinition = z.infer<typeof ToolDefinition>

/** The calls of a message that the dialect understood; none of any message but the assistant's. */
export const toolCallsOf = (message: Message): readonly ToolCall[] =>
  message.role === 'assistant' ? (message.toolCalls ?? []) : []

/** A call as one text, for people and for models to read. */
export const callInWords = ({ name, arguments: given }: ToolCall): string => `${name}(${JSON.stringify(given)})`

/** The tools that messages call, each once, in the order of their names. */
export const calledTools = (messages: readonly Message[]): readonly string[] =>
  [...new Set(messages.flatMap(toolCallsOf).map(({ name }) => name))].sort()

/** Tools that messages call and nobody offers, each once: to imitate such a call would teach names that are not there. */
export function unofferedTools(messages: readonly Message[], offered: readonly ToolDefinition[]): readonly string[] {
  const known = new Set(offered.map(({ name }) => name))
  return calledTools(messages).filter((name) => !known.has(name))
}
