import type {
  AssistantMessage,
  CallId,
  ChatCompletion,
  ChatHistory,
  ChatRequest,
  ClientName,
  EpisodeFailure,
  FinishReason,
  KeyId,
  KeyLimits,
  NodeId,
  Scope,
  ServedBy,
  StopReason,
  Tenant,
  TrajectoryId,
  Usage,
  WeightsValue,
} from '../core/index.ts'
import type { z } from 'zod'

/**
 * What the gateway's parts know of each other. A request goes: `auth/` says who is asking, `episode/` finds the episode
 * that it belongs to and opens the record, `chat/` (or `responses/`) asks the upstream and streams, `episode/` commits.
 */

type Name = z.infer<typeof ClientName>

/** Who is asking. */
export interface Caller {
  readonly tenant: Tenant
  /** `open` where the gateway asks for no key. */
  readonly key: KeyId
  readonly scopes: ReadonlySet<Scope>
  /** What the key says for every call made with it. */
  readonly session: Name | null
  readonly agent: Name | null
  readonly subject: Name | null
  readonly train: boolean
  readonly limits: KeyLimits
  /** For the key of a session, the key that made it: its limits hold for all its sessions together. */
  readonly parent?: { readonly key: KeyId; readonly limits: KeyLimits }
  /** The client's own `Authorization`, to pass on to an upstream that has no key of ours; never stored, never logged. */
  readonly authorization: string | null
}

/** What the client says about one request beside its body: in the path, in headers, or through its key. */
export interface RequestContext {
  readonly caller: Caller
  /** From `/s/{session}/v1/…`, the `ratchet-session` header, or the key. */
  readonly session: Name | null
  /** From `ratchet-agent` and `ratchet-subject` (or the body's `user`), or the key. */
  readonly agent: Name | null
  readonly subject: Name | null
  /** False when the request (`ratchet-train: false`), the key, or an earlier call of the session forbids learning. */
  readonly train: boolean
  /** From `idempotency-key`. */
  readonly idempotencyKey: string | null
  /** From `x-stainless-retry-count`, which the OpenAI SDKs send: 0 for the first try. */
  readonly retry: number
  /** Fires when the client is gone. */
  readonly signal: AbortSignal
  /** About how much work it is to go through the request, in bytes of text. Default: next to none. */
  readonly weight?: number
}

/** What an upstream has said of one answer, so far or in full. Token arrays have equal length, where they are known. */
export interface AnsweredChoice {
  readonly index: number
  readonly message: AssistantMessage
  readonly finish: FinishReason
  /** `null` when the upstream does not tell them. */
  readonly tokens: readonly number[] | null
  readonly logprobs: readonly number[] | null
  /** `null` when it is not known under which distribution the tokens were drawn. */
  readonly behaviourLogprobs: readonly number[] | null
  /** Whether the policy closed its own turn; absent when the upstream does not tell (the embedded engine does). */
  readonly closedTurn?: boolean
}

/** Everything that one call brought, so far or in full. */
export interface Answer {
  readonly choices: readonly AnsweredChoice[]
  readonly usage: Usage | null
  readonly upstream: string
  readonly servedModel: string
  readonly upstreamId: string | null
  /** Tokens of the whole prompt, as the upstream read it. */
  readonly promptTokens: readonly number[] | null
  /** Milliseconds since the epoch of the first token; `null` before it. */
  readonly firstTokenAt: number | null
  /** About how much work it is to go through it: see `weightOf`. Default: little. */
  readonly weight?: number
}

/** How a call ended. */
export interface CallEnd {
  /** What came, whole or in part; `null` when nothing did. */
  readonly answer: Answer | null
  readonly stopReason: StopReason
  readonly failure: EpisodeFailure | null
}

/** The record of one call under way. */
export interface CallRecord {
  readonly trajectory: TrajectoryId
  readonly call: CallId
  /** The id that the client sees on its answer (`chatcmpl-…`, `resp_…`): {@link responseIdOf} reads it back. */
  readonly responseId: string
  /** What goes on to the upstream: the client's own request, or with learned texts in the place of the agent's own. */
  readonly request: ChatRequest
  /** The weights that are to answer; `null`: whatever the upstream serves. */
  readonly weights: z.infer<typeof WeightsValue> | null
  /** Exact tokens of the conversation so far, where they are known. */
  readonly history: ChatHistory | null
  /** What serves the session, and the Generation; `null` where its agent has no releases. */
  readonly served: { readonly by: ServedBy; readonly generation: number } | null
  /**
   * Called when the weights cannot be had, before anything of an answer came: from then on `request`, `weights`, `history`
   * and `served` are those of what serves everybody else.
   * @returns false where they are that already: then there is nothing to fall back on.
   */
  fallBack(cause: unknown): Promise<boolean>
  /** Told of a stream's answer as it grows, often: keeps it, at most every so often, so that a half answer survives. */
  progress(answer: () => Answer): void
  /**
   * Commits the call, with redaction first.
   * @returns the node of each choice, once it is on the disk (or, under `best-effort`, `null` with the reason when the
   * store could not write).
   * @throws StoreError under `record: required` when it could not be written.
   */
  finish(end: CallEnd): Promise<Committed>
}

/** What became of the record. */
export type Committed =
  | { readonly recorded: true; readonly nodes: readonly NodeId[] }
  | { readonly recorded: false; readonly reason: string }

/** The store's code for a call whose person or session was erased while it was under way. */
export const erasedCall = 'store/erased'

/** What a request turns out to be. */
export type Begun =
  | { readonly kind: 'call'; readonly record: CallRecord }
  /** The client repeats a request that was answered: it gets the same answer, and no Decision is made. */
  | {
      readonly kind: 'replay'
      readonly completion: ChatCompletion
      readonly trajectory: TrajectoryId
      readonly call: CallId
      /** What served its session; `null` where its agent has no releases. */
      readonly served: ServedBy | null
    }
  /** The client repeats a request that is being answered, here or by another gateway. */
  | { readonly kind: 'in-flight'; readonly retryAfterSeconds: number }

/** Finds the episode that a request belongs to, and records its calls. */
export interface EpisodeRecorder {
  /**
   * @throws GatewayError `gateway/idempotency-conflict` when an idempotency key comes with another body.
   */
  begin(request: ChatRequest, context: RequestContext): Promise<Begun>
  /** Commits what is under way, as `cancelled`. */
  close(): Promise<void>
}

/** Whether answers wait for the store: `required` fails a call that cannot be recorded; `best-effort` says so and goes on. */
export type RecordMode = 'required' | 'best-effort'

/** Says who is asking, and whether there is room for them. */
export interface Doorkeeper {
  /**
   * @param needs the scope that the route needs.
   * @throws GatewayError 401 for no key or a wrong one, 403 for a key that may not.
   */
  identify(headers: Headers, needs: Scope): Promise<Caller>
  /**
   * Takes in a request whose body, if it has one, is still to come.
   * @param takes `no place`: it counts for the minute only. Default: `place`.
   * @throws GatewayError 429 with `retryAfterSeconds` when there is no place for it.
   */
  arrive(caller: Caller, takes?: 'place' | 'no place'): Arrived
}

/** A request that has been let in as far as its body. */
export interface Arrived {
  /**
   * Takes a place for the call, once its body has come; the function that comes back gives it up, once.
   * @throws GatewayError 429 with `retryAfterSeconds` when there is none.
   */
  enter(): () => void
  /** The body is not awaited any more. After {@link enter}, and again, it does nothing. */
  leave(): void
}

/** What is told of one call while it runs: to Prometheus, to OpenTelemetry, to the log. */
export interface CallTelemetry {
  firstToken(): void
  /** Once, however it ended. */
  end(outcome: {
    readonly status: number
    readonly answer: Answer | null
    readonly failure: EpisodeFailure | null
    /** `null` where nothing was to be recorded. */
    readonly committed: Committed | null
    /** How long the commit took; absent where there was none. */
    readonly commitMs?: number
    /** What the episode turned out to be, and the id on the answer, where they were not known when the call began. */
    readonly trajectory?: TrajectoryId
    readonly responseId?: string
  }): void
}

/** Where calls are told of. */
export interface Telemetry {
  call(info: {
    readonly operation: 'chat' | 'embeddings'
    readonly model: string
    readonly stream: boolean
    readonly caller: Caller
    readonly trajectory: TrajectoryId | null
    /** The request's headers: `traceparent` in them makes the call part of the client's trace. */
    readonly headers?: Headers
  }): CallTelemetry
  /** Signals taken in, by outcome. */
  signals(outcomes: Readonly<Record<string, number>>): void
}
