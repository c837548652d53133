import { z } from 'zod'
import { Json } from './json.ts'

/** A call of one tool that the dialect understood. `arguments` are not yet checked against the tool's own schema. */
export const ToolCall = z.strictObject({
  id: z.string().optional(),
  name: z.string().min(1),
  arguments: z.record(z.string(), Json),
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

/** One message of a conversation. */
export const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: z.string() }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string(),
    toolCalls: z.array(ToolCall).optional(),
    malformedCalls: z.array(MalformedCall).optional(),
  }),
  z.strictObject({
    role: z.literal('tool'),
    content: z.string(),
    name: z.string(),
    toolCallId: z.string().optional(),
    isError: z.boolean().optional(),
  }),
])
export type Message = z.infer<typeof Message>
/** What the policy says in one turn. */
export type AssistantMessage = Extract<Message, { role: 'assistant' }>

/** A tool as the policy sees it. */
export const ToolDefinition = z.strictObject({
  name: z.string().regex(/^[A-Za-z_][\w-]{0,63}$/),
  description: z.string(),
  /** JSON Schema of the arguments object. */
  parameters: z.record(z.string(), Json),
})
export type ToolDefinition = z.infer<typeof ToolDefinition>
