import type { z } from 'zod'
import type { RatchetError } from '../errors/index.ts'
import type { Json } from './json.ts'
import type { ChatChunk, ChatCompletion } from './openai/chat-completion.ts'
import type { ChatRequest } from './openai/chat-request.ts'
import type { WeightsValue } from './parameter.ts'

/**
 * The ChatUpstream port: what the gateway passes requests on to. It speaks the OpenAI API's chat completion, with token
 * ids as vLLM tells them. Implementations: the embedded engine, any OpenAI-compatible URL, and wrappers that retry, fall
 * back and queue.
 */

/** The exact tokens of a conversation that was served before, so that its continuation need not render it anew. */
export interface ChatHistory {
  /** How many of the request's first messages they are; the last of them is the policy's own turn. */
  readonly messages: number
  /** Everything that the policy read and sampled up to and with that turn. */
  readonly tokens: readonly number[]
  /** Whether the policy closed that turn itself. */
  readonly closedTurn: boolean
}

/** One request, on its way to an upstream. */
export interface ChatCall {
  /**
   * What the client sent. What Ratchet wants to know beside it (token ids, their log-probabilities, the usage of streams)
   * an upstream tells unasked, or asks for itself and knows how to do without; the gateway shows a client only what it
   * asked for.
   */
  readonly request: ChatRequest
  /**
   * The weights that are to answer, from first to last token (invariant 11): an adapter over the model that the request
   * names, or with `adapter: null` that model exactly. `null`: whatever the upstream serves.
   */
  readonly weights: z.infer<typeof WeightsValue> | null
  /** Known for conversations of which this upstream told the tokens before. */
  readonly history: ChatHistory | null
  /** The client's own `Authorization`, where the gateway passes it on; never stored, never logged. */
  readonly authorization: string | null
  /** Fires when the client is gone or time is up: the upstream's work is cancelled. */
  readonly signal: AbortSignal
  /** Where a large answer takes room before it is held in memory. Default: there is room for any. */
  readonly room?: AnswerRoom | undefined
}

/** Room for answers in memory. */
export interface AnswerRoom {
  /** @throws what the caller is to be told when there is no more. */
  readonly take: (bytes: number) => void
}

/** An answer: whole, or as it comes. */
export type ChatReply =
  | {
      readonly kind: 'whole'
      readonly completion: ChatCompletion
      readonly upstream: string
      /** About how much work it is to go through it: {@link weightOf}. Default: next to none. */
      readonly weight?: number
    }
  | {
      readonly kind: 'stream'
      /**
       * As the upstream sends them. Ends after the last; throws {@link UpstreamFailure} when the upstream dies midway.
       * Returning early (`break`) cancels the upstream's work.
       */
      readonly chunks: AsyncIterable<ChatChunk>
      readonly upstream: string
    }

/** A model that can be asked for. */
export interface ServedModel {
  readonly id: string
  readonly ownedBy: string
  /** Seconds since the epoch. */
  readonly created: number
}

/** What an upstream has to do at the moment. */
export interface UpstreamLoad {
  readonly upstream: string
  /** Calls under way, and calls that wait for a place. */
  readonly active: number
  readonly waiting: number
}

/** Something that answers chat requests. */
export interface ChatUpstream {
  /** For records, metrics and people. */
  readonly name: string
  /** Whether it can tell token ids and log-probabilities of what it samples, so that they are worth asking for. */
  readonly tellsTokens: boolean
  /** Whether it can answer with an adapter over its model (`ChatCall.weights`). */
  readonly servesAdapters: boolean
  /**
   * Makes weights ready, so that no request waits for them; ready ones change nothing.
   * @param model the name that clients ask for them by.
   * @throws UpstreamFailure `refused` for what it cannot serve.
   */
  prepare(model: string, weights: z.infer<typeof WeightsValue>): Promise<void>
  /** @throws UpstreamFailure */
  models(call: Pick<ChatCall, 'authorization' | 'signal' | 'room'>): Promise<readonly ServedModel[]>
  /**
   * What decides when it answers for `model`: recorded as a Version of the Parameter `model`.
   * @param upstream the `upstream` of a reply: where several stand behind this one, the one that answered.
   */
  weights(model: string, upstream?: string): z.infer<typeof WeightsValue>
  /**
   * Whether it streams is the request's own `stream`.
   * @throws UpstreamFailure before the first byte of the answer.
   */
  chat(call: ChatCall): Promise<ChatReply>
  /**
   * Passes `POST /v1/embeddings` through.
   * @throws UpstreamFailure
   */
  embeddings(call: { readonly body: Json } & Pick<ChatCall, 'authorization' | 'signal' | 'room'>): Promise<Json>
  /** Of each upstream behind it that counts its calls. */
  load?(): readonly UpstreamLoad[]
  close(): Promise<void>
}

/**
 * Why an upstream did not answer.
 * - `refused`: it says that the request is wrong (400, 401, 404, 422 …): `status` and `body` are passed on as they are.
 * - `busy`: it or the queue before it has no room (429, 503); worth trying again after `retryAfterSeconds`.
 * - `unreachable`, `broken` (5xx, a cut stream, what is not JSON or too large), `timeout`, `cancelled`.
 */
export type UpstreamFailureKind = 'refused' | 'busy' | 'unreachable' | 'broken' | 'timeout' | 'cancelled'

/** The shape of every error that an upstream throws; `model/openai` has the class. */
export interface UpstreamFailure extends RatchetError {
  readonly kind: UpstreamFailureKind
  readonly upstream: string
  /** The HTTP status that it answered with; `null` when it did not answer. */
  readonly status: number | null
  /** What it said, when that was JSON. */
  readonly body: Json | null
  readonly retryAfterSeconds: number | null
}
