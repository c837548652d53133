import { z } from 'zod'
import { JsonObject, mostMessages, mostParts, mostTools } from '../../core/index.ts'

/**
 * The body of `POST /v1/responses`, as far as Ratchet reads it. Source: the OpenAI API reference, "Create a model
 * response".
 */

const text = z.string()

/** Items of one request: a message's words and its calls are items of their own. */
const mostItems = mostMessages

/** One part of an item's content. */
export const InputPart = z.looseObject({ type: text })
export type InputPart = z.infer<typeof InputPart>

const content = z.union([text, z.array(InputPart).max(mostParts)])

/** What an `input_audio` part holds: base64 text. */
export const Audio = z.looseObject({ data: text, format: text })

/** The items of a conversation that are understood, by their type. */
export const inputItems = {
  /** Its type may be left out. */
  message: z.looseObject({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content,
  }),
  function_call: z.looseObject({
    type: z.literal('function_call'),
    call_id: text.min(1),
    name: text.min(1),
    arguments: text,
  }),
  function_call_output: z.looseObject({
    type: z.literal('function_call_output'),
    call_id: text.min(1),
    output: content,
  }),
  /** What the model thought: it is not shown again. */
  reasoning: z.looseObject({ type: z.literal('reasoning') }),
}

export type MessageItem = z.infer<typeof inputItems.message>
export type FunctionCallItem = z.infer<typeof inputItems.function_call>
export type FunctionCallOutputItem = z.infer<typeof inputItems.function_call_output>

/** A tool of any type; only functions are understood. */
export const ResponsesTool = z.looseObject({ type: text })

/** A function that the model may call. */
export const FunctionTool = z.looseObject({
  type: z.literal('function'),
  name: text,
  description: text.nullish(),
  parameters: JsonObject.nullish(),
  strict: z.boolean().nullish(),
})

/** The choice of one function, and of some. */
export const ChosenFunction = z.looseObject({ name: text })
export const AllowedTools = z.looseObject({
  mode: text.nullish(),
  tools: z.array(ChosenFunction).max(mostTools).nullish(),
})

/** The body. Its items are read one by one, so that one of an unknown type is named. */
export const ResponsesRequest = z.looseObject({
  model: text.min(1).max(256),
  input: z.union([
    text,
    z
      .array(z.looseObject({ type: text.optional() }))
      .min(1)
      .max(mostItems),
  ]),
  instructions: text.nullish(),
  tools: z.array(ResponsesTool).max(mostTools).nullish(),
  tool_choice: z.union([text, z.looseObject({ type: text })]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z.looseObject({ format: z.looseObject({ type: text }).nullish(), verbosity: text.nullish() }).nullish(),
  reasoning: z.looseObject({ effort: text.nullish() }).nullish(),
  max_output_tokens: z.int().positive().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().positive().max(1).nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: z.array(text).max(64).nullish(),
  stream: z.boolean().nullish(),
  metadata: JsonObject.nullish(),
  user: text.nullish(),
  safety_identifier: text.nullish(),
})
export type ResponsesRequest = z.infer<typeof ResponsesRequest>

/** The body with its items, for the OpenAPI document. */
export const DocumentedRequest = ResponsesRequest.extend({
  input: z.union([
    text,
    z
      .array(z.union(Object.values(inputItems)))
      .min(1)
      .max(mostItems),
  ]),
  tools: z.array(FunctionTool).max(mostTools).nullish(),
})
