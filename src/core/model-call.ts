import { z } from 'zod'
import { CallId } from './id.ts'
import { Json } from './json.ts'

/** Why a served model ended its answer, in the OpenAI API's words; `null` when it did not come to an end. */
export const FinishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter']).nullable()
export type FinishReason = z.infer<typeof FinishReason>

/** Tokens that a call read and wrote, as the upstream counted them. */
export const Usage = z.strictObject({
  promptTokens: z.int().nonnegative(),
  completionTokens: z.int().nonnegative(),
  /** Of the prompt's tokens, those that the upstream had in its cache; `null` when it does not say. */
  cachedTokens: z.int().nonnegative().nullable(),
})
export type Usage = z.infer<typeof Usage>

/** What was asked of a served model and what came back, beside the messages. */
export const ModelCall = z.strictObject({
  id: CallId,
  /** Index of the answer, when several were asked for (`n` > 1). */
  choice: z.int().nonnegative(),
  /** The model that the client asked for, the upstream that answered, and the model that it says it was. */
  model: z.string(),
  upstream: z.string(),
  servedModel: z.string(),
  /** The request without messages, tools and what names the client: temperature, response_format … */
  params: z.record(z.string(), Json),
  /** Key of the trajectory's `toolsets`; `null` for a call without tools. */
  tools: z.string().nullable(),
  finish: FinishReason,
  /** True where it did not come to an end because the client went away: not its upstream, nor the gateway. */
  cancelled: z.literal(true).optional(),
  usage: Usage.nullable(),
  /** The id that the upstream gave its answer. */
  upstreamId: z.string().nullable(),
  /** Milliseconds since the epoch, and from there to the first token and to the end; `null` when there was none. */
  startedAt: z.number(),
  firstTokenMs: z.number().nonnegative().nullable(),
  totalMs: z.number().nonnegative(),
  /** The call that this one repeats: the client's own retry. Decisions of the repeated call do not count. */
  retryOf: CallId.nullable(),
})
export type ModelCall = z.infer<typeof ModelCall>
