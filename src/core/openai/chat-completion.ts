import { z } from 'zod'
import { MalformedCall } from '../message.ts'
import { mostCalls, mostChoices, WireToolCall } from './chat-request.ts'

/**
 * The OpenAI API's chat completion and its stream chunk, with vLLM's token ids. Everything that an upstream says is
 * parsed with these; what they do not name stays in place. Source: the API reference, "The chat completion object", and
 * vLLM's `return_token_ids`.
 */

const tokenIds = z.array(z.int().nonnegative()).nullish()

/** Log-probabilities of the tokens of one answer, or of one chunk of it. */
export const WireLogprobs = z.looseObject({
  content: z.array(z.looseObject({ token: z.string(), logprob: z.number() })).nullish(),
})
export type WireLogprobs = z.infer<typeof WireLogprobs>

/** What the embedded engine says beyond the OpenAI API; other upstreams leave it out. */
export const EngineFacts = z.looseObject({
  /** Log-probabilities under the distribution that the tokens were drawn from, beside those of `logprobs`. */
  behaviour_logprobs: z.array(z.number()).nullish(),
  /** Calls that the policy wrote and nobody can read: their text is in the content too. On a stream's last chunk. */
  malformed_calls: z.array(MalformedCall).max(mostCalls).nullish(),
  /** Whether the policy closed its own turn: {@link ChatHistory}'s `closedTurn`. On a stream's last chunk. */
  closed_turn: z.boolean().nullish(),
})

export const WireUsage = z.looseObject({
  prompt_tokens: z.int().nonnegative(),
  completion_tokens: z.int().nonnegative().default(0),
  total_tokens: z.int().nonnegative().optional(),
  prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nonnegative().nullish() }).nullish(),
})
export type WireUsage = z.infer<typeof WireUsage>

/** No request asks for more. */
const choicesOf = <C extends z.ZodType>(choice: C) => z.array(choice).max(mostChoices)

/** A whole answer: what `POST /v1/chat/completions` returns. */
export const ChatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion').default('chat.completion'),
  created: z.number(),
  model: z.string(),
  choices: choicesOf(
    z.looseObject({
      index: z.int().nonnegative(),
      message: z.looseObject({
        role: z.literal('assistant').default('assistant'),
        content: z.string().nullish(),
        refusal: z.string().nullish(),
        reasoning_content: z.string().nullish(),
        tool_calls: z.array(WireToolCall).max(mostCalls).nullish(),
      }),
      finish_reason: z.string().nullish(),
      logprobs: WireLogprobs.nullish(),
      token_ids: tokenIds,
      engine: EngineFacts.nullish(),
    }),
  ),
  usage: WireUsage.nullish(),
  prompt_token_ids: tokenIds,
})
export type ChatCompletion = z.infer<typeof ChatCompletion>

/** One chunk of a streamed answer. The one that brings usage may have no choices. */
export const ChatChunk = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion.chunk').default('chat.completion.chunk'),
  created: z.number(),
  model: z.string(),
  choices: choicesOf(
    z.looseObject({
      index: z.int().nonnegative(),
      delta: z
        .looseObject({
          role: z.string().nullish(),
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          reasoning_content: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({
                index: z.int().nonnegative(),
                id: z.string().nullish(),
                type: z.string().nullish(),
                function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
              }),
            )
            .max(mostCalls)
            .nullish(),
        })
        .default({}),
      finish_reason: z.string().nullish(),
      logprobs: WireLogprobs.nullish(),
      token_ids: tokenIds,
      engine: EngineFacts.nullish(),
    }),
  ),
  usage: WireUsage.nullish(),
  prompt_token_ids: tokenIds,
})
export type ChatChunk = z.infer<typeof ChatChunk>
