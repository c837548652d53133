import type { WireLogprobs, WireUsage } from '../../core/index.ts'
import type { ResponsesRequest } from './responses-request.ts'

/**
 * The objects of the Responses API, as this gateway fills them. Source: the OpenAI API reference, "The response object".
 * Ids of items are the response's own with their place: the same answer always has the same ids.
 */

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export interface OutputText {
  readonly type: 'output_text'
  readonly text: string
  readonly annotations: readonly never[]
  readonly logprobs: readonly Logprob[]
}

export interface Refusal {
  readonly type: 'refusal'
  readonly refusal: string
}

export interface ReasoningText {
  readonly type: 'reasoning_text'
  readonly text: string
}

export interface Logprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: unknown
  readonly top_logprobs: unknown
}

export type OutputItem =
  | {
      readonly type: 'reasoning'
      readonly id: string
      readonly summary: readonly never[]
      readonly content: readonly ReasoningText[]
      readonly status: ItemStatus
    }
  | {
      readonly type: 'message'
      readonly id: string
      readonly role: 'assistant'
      readonly content: readonly (OutputText | Refusal)[]
      readonly status: ItemStatus
    }
  | {
      readonly type: 'function_call'
      readonly id: string
      readonly call_id: string
      readonly name: string
      readonly arguments: string
      readonly status: ItemStatus
    }

export const outputText = (text: string, logprobs: readonly Logprob[]): OutputText => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs,
})

/** As the Responses API tells log-probabilities. */
export function logprobsOf(told: WireLogprobs | null | undefined): Logprob[] {
  return (told?.content ?? []).map(({ token, logprob, bytes, top_logprobs }) => ({
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: top_logprobs ?? [],
  }))
}

/** How an answer came to its end, in the Responses API's words. */
export function statusOf(finish: string | null): {
  readonly status: 'completed' | 'incomplete'
  readonly incomplete_details: { readonly reason: string } | null
} {
  const reason = { length: 'max_output_tokens', content_filter: 'content_filter' }[finish ?? '']
  return reason === undefined
    ? { status: 'completed', incomplete_details: null }
    : { status: 'incomplete', incomplete_details: { reason } }
}

/** What is known of a response at some point of it. */
export interface ResponseState {
  readonly id: string
  /** Seconds since the epoch. */
  readonly createdAt: number
  readonly model: string
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly OutputItem[]
  readonly incomplete_details?: { readonly reason: string } | null
  readonly error?: { readonly code: string; readonly message: string }
  readonly usage?: WireUsage | null
}

/** The response object: what was asked, and what came of it so far. */
export function responseObject(request: ResponsesRequest, state: ResponseState): object {
  const { id, createdAt, model, status, output, incomplete_details = null, error = null, usage } = state
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status,
    background: false,
    error,
    incomplete_details,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model,
    output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: null },
    store: false,
    temperature: request.temperature ?? null,
    text: { format: request.text?.format ?? { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_logprobs: request.top_logprobs ?? null,
    top_p: request.top_p ?? null,
    truncation: 'disabled',
    ...(usage ? { usage: usageOf(usage) } : {}),
    ...(request.user ? { user: request.user } : {}),
    metadata: request.metadata ?? {},
  }
}

function usageOf({ prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details }: WireUsage) {
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: prompt_tokens_details?.cached_tokens ?? 0, cache_write_tokens: 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens(completion_tokens_details) },
    total_tokens: prompt_tokens + completion_tokens,
  }
}

function reasoningTokens(details: unknown): number {
  const told = typeof details === 'object' && details !== null && 'reasoning_tokens' in details
  return told && typeof details.reasoning_tokens === 'number' ? details.reasoning_tokens : 0
}
