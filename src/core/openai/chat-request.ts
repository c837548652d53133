import { z } from 'zod'
import { Json, JsonObject } from '../json.ts'

/**
 * The OpenAI API's chat completion request, as far as Ratchet reads it. What it does not read stays in place and reaches
 * the upstream. Source: the API reference, "Create chat completion".
 */

const text = z.string()

/** How many there may be of what each costs time to read: messages of a request, tools, and parts or calls of a message. */
export const mostMessages = 4_096
export const mostTools = 1_024
export const mostParts = 4_096
export const mostCalls = 1_024
/** Answers to one request. */
export const mostChoices = 128

/** One part of a message's content. It is recorded as it is: `1e999`, which is no number of JSON's, cannot be. */
export const WirePart = z
  .looseObject({ type: z.string() })
  .refine((part) => Json.safeParse(part).success, { error: 'not a JSON value', abort: true })
export type WirePart = z.infer<typeof WirePart>

const content = z.union([text, z.array(WirePart).max(mostParts)])

/** A tool call as it travels: the arguments are JSON text that a model wrote, and may not parse. */
export const WireToolCall = z.looseObject({
  id: text.optional(),
  type: z.string().optional(),
  function: z.looseObject({ name: text, arguments: text }),
})
export type WireToolCall = z.infer<typeof WireToolCall>

/** One message of the conversation. */
export const WireMessage = z.discriminatedUnion('role', [
  z.looseObject({ role: z.literal('system'), content }),
  z.looseObject({ role: z.literal('developer'), content }),
  z.looseObject({ role: z.literal('user'), content, name: text.nullish() }),
  z.looseObject({
    role: z.literal('assistant'),
    content: content.nullish(),
    refusal: text.nullish(),
    reasoning_content: text.nullish(),
    tool_calls: z.array(WireToolCall).max(mostCalls).nullish(),
  }),
  z.looseObject({ role: z.literal('tool'), content, tool_call_id: text }),
])
export type WireMessage = z.infer<typeof WireMessage>

/** A tool that the model may call. */
export const WireTool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string().regex(/^[A-Za-z0-9_][\w.-]{0,63}$/),
    description: text.nullish(),
    parameters: JsonObject.nullish(),
  }),
})
export type WireTool = z.infer<typeof WireTool>

/** The body of `POST /v1/chat/completions`. */
export const ChatRequest = z.looseObject({
  model: z.string().min(1).max(256),
  messages: z.array(WireMessage).min(1).max(mostMessages),
  tools: z.array(WireTool).max(mostTools).nullish(),
  tool_choice: z.union([z.string(), JsonObject]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(mostChoices).nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().positive().max(1).nullish(),
  stop: z.union([text, z.array(text).max(16)]).nullish(),
  seed: z.int().nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  response_format: z.looseObject({ type: z.string() }).nullish(),
  user: z.string().nullish(),
  /** vLLM: tell the tokens. */
  return_token_ids: z.boolean().nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>
