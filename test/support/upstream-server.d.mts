import type { ServerOptions } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'

/** What the model says in one choice. */
export interface Said {
  readonly reasoning?: string
  readonly content?: string | null
  /** Arguments that are no string are written as JSON. */
  readonly toolCalls?: readonly { readonly id?: string; readonly name: string; readonly arguments?: unknown }[]
  /** By default `stop`, `tool_calls` or, when `max_tokens` cut it, `length`. */
  readonly finish?: string
}

/** The body of a chat completion request, as it came. */
export interface AskedBody {
  readonly model: string
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[]
  readonly stream?: boolean
  readonly [key: string]: unknown
}

export type FaultKind =
  /** Closes the connection before a byte of the answer. */
  | 'reset'
  /** Never answers; answers headers only; stops in the middle. */
  | 'hang'
  | 'hang-after-headers'
  | 'hang-midway'
  /** Sends nothing but SSE comments (or empty lines, where JSON is awaited), for ever. */
  | 'keep-alives'
  /** 429 with Retry-After, 500, 503, 400, 401, 404; 502 with an HTML page. */
  | 'rate-limit'
  | 'server-error'
  | 'overloaded'
  | 'refused'
  | 'unauthorized'
  | 'not-found'
  | 'html-error'
  /** Closes the connection in the middle of an event or of the JSON; ends the stream properly before the answer is over. */
  | 'cut'
  | 'cut-clean'
  | 'broken-json'
  /** JSON that is no chat completion. */
  | 'broken-shape'
  | 'broken-sse'
  | 'wrong-type'
  /** 50 MB: one answer (or a stream of ordinary chunks), or one SSE line. */
  | 'huge'
  | 'huge-line'
  /** Answers after `ms`. */
  | 'late'
  /** An error object as the first event, later, or as an event named `error`. */
  | 'error-first'
  | 'error-midway'
  | 'error-event'
  | 'no-usage'
  | 'no-choices'
  /** A complete stream without `[DONE]`. */
  | 'no-done'
  | 'empty'

export interface Fault {
  readonly kind: FaultKind
  /** For `late` and `keep-alives`, in milliseconds. */
  readonly ms?: number
  /** Another status than the kind's own. */
  readonly status?: number
  /** The Retry-After header of a status. */
  readonly retryAfter?: string
  /** Chunks before the fault, in a stream. */
  readonly after?: number
  /** What `error-first` says. */
  readonly body?: object
}

export interface UpstreamOptions {
  /** Default: any free port of 127.0.0.1. */
  readonly port?: number
  readonly host?: string
  /** Served over HTTPS with this key and certificate. */
  readonly tls?: Pick<ServerOptions, 'key' | 'cert'>
  /** What `/v1/models` lists; others are 404, unless `anyModel`. Default `['scripted']`. */
  readonly models?: readonly string[]
  readonly anyModel?: boolean
  /** The model that answers say they are from. Default: the one that was asked for. */
  readonly servedModel?: string
  /** Without `Authorization: Bearer` of it, 401. */
  readonly apiKey?: string
  /** Tells token ids to who asks with `return_token_ids`, as vLLM does. */
  readonly tellsTokens?: boolean
  /** Refuses fields that OpenAI does not know, in OpenAI's words, in Mistral's, or without saying why. */
  readonly strict?: boolean | 'mistral' | 'vague'
  /** `refused`: 403, as OpenAI's reasoning models; `not-with-tools`: 400 in streams with tools, as llama.cpp; `none`: ignored. */
  readonly logprobs?: 'refused' | 'not-with-tools' | 'none'
  /** False: never told; `refused`: `stream_options` is an unknown field. */
  readonly usage?: false | 'refused'
  readonly cachedTokens?: number
  /**
   * What the model says: to every choice, or one after another to `n` of them. By default it calls the tools that the last
   * user message names in lines `!name {"json": "arguments"}`, repeats what a tool said, writes JSON when JSON is asked
   * for, and else repeats the user.
   */
  readonly say?: (body: AskedBody) => string | Said | readonly (string | Said)[]
  /** Refuses what it likes. */
  readonly refuse?: (body: AskedBody) => { readonly status: number; readonly body: unknown } | null
  /** Loads LoRA adapters while it runs, as vLLM does where it is allowed to; `set({ models })` makes it forget them. */
  readonly lora?: { readonly maxRank?: number }
  /** Before the answer, and after each chunk, in milliseconds. */
  readonly delayMs?: number
  readonly chunkDelayMs?: number
  readonly tokensPerChunk?: number
  /** False: requests are not kept, for load tests. */
  readonly record?: boolean
  /**
   * For load tests: the same precomputed bytes to every request, whatever its path and body say beside `stream` and
   * `return_token_ids`. Nothing is recorded or counted, no fault is known.
   */
  readonly canned?: boolean | { readonly text?: string }
}

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly raw: string
  /** `null` when it was no JSON. */
  readonly body: AskedBody | null
}

export interface Upstream {
  /** The API's base URL, `/v1` included. */
  readonly url: string
  readonly port: number
  /** Every request so far, in order. */
  readonly requests: ReceivedRequest[]
  /** Every request to load or unload a LoRA adapter, in order. */
  readonly loads: readonly { readonly kind: 'load' | 'unload'; readonly name: string; readonly path?: string }[]
  /** Answers that went out to the end; answers (or silences) that the client walked away from. */
  readonly answered: number
  readonly abandoned: number
  /** Connections that were ever made, and those open now. */
  readonly connections: number
  readonly open: number
  /** The next requests fail in these ways, in order. `fault:KIND` or `fault:KIND:MS` as a model's name does the same. */
  fail(...faults: readonly (FaultKind | Fault)[]): void
  /** Changes how it answers from now on. */
  set(changes: Omit<UpstreamOptions, 'port' | 'host' | 'tls' | 'canned'>): void
  /** Closes the port and every connection: connecting is refused until `comeBack`. */
  goAway(): Promise<void>
  comeBack(): Promise<void>
  close(): Promise<void>
}

/** Starts a server that speaks the OpenAI API (`/v1/chat/completions`, `/v1/embeddings`, `/v1/models`). */
export declare function startUpstream(options?: UpstreamOptions): Promise<Upstream>

/** A base URL at which nobody listens. */
export declare function nobody(): Promise<string>
