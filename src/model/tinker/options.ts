import type { RendererKind } from '../renderer/renderer-for.ts'
import type { OnTinkerEvent } from './events.ts'
import type { WireFormat } from './pass-wire.ts'
import type { ServerKind } from './server-kind.ts'

/** Which server, and which of its models. */
export interface TinkerModelOptions {
  /** The root of the server, for example `http://127.0.0.1:8000`; the protocol adds `/api/v1`. */
  readonly url: string
  /** Sent as `X-API-Key`. Default: none is sent. */
  readonly apiKey?: string
  /** As the server calls it, for example `Qwen/Qwen3-0.6B`. */
  readonly baseModel: string
  /** A folder with its config.json, tokenizer.json and chat template, or its GGUF file. Default: what `baseModel` names here. */
  readonly folder?: string
  /** How conversations are laid out. Default `template`: the model's own. */
  readonly renderer?: RendererKind
  /** What the server is: servers differ where the protocol leaves it open. Default `tinker`, the hosted service. */
  readonly server?: ServerKind
  /**
   * How far log-probabilities of what it samples may be from those of what it trains, > 0. Default: what the server tells, else
   * as float32 does.
   */
  readonly agreement?: number
  /** In which format training data are sent. Default `ask`: what the server takes. */
  readonly wire?: WireFormat
  /** Longest prompt plus continuation. Default: the model's. */
  readonly contextLength?: number
  /** Told of what a person should see: pauses, retries, options that the server does not heed. */
  readonly onEvent?: OnTinkerEvent
  /** Ends everything under way, and everything that follows. */
  readonly signal?: AbortSignal
  readonly limits?: Partial<TinkerLimits>
}

/** How long, how often and how much. */
export interface TinkerLimits {
  /** Requests whose result is still to come, at once; more wait. Default 64. */
  readonly concurrency: number
  /** Failures in a row of one request before it is given up. Default 8: about two minutes. */
  readonly retries: number
  /** The first wait between two tries, in milliseconds; it doubles, up to 30 s. Default 500. */
  readonly baseDelayMs: number
  /** From a request until its answer. A question for a result is asked again after it. Default 60 000. */
  readonly answerTimeoutMs: number
  /** For one result, without the time for which the server says that it holds requests back. Default 3 600 000. */
  readonly resultTimeoutMs: number
  /** Of one answer. Default 64 MiB. */
  readonly maxAnswerBytes: number
  /** Of one request with training data, as JSON; more data are sent in several. Default 5 000 000 and 128 sequences. */
  readonly maxChunkBytes: number
  readonly maxChunkData: number
  /** Between two signs of life. Default 10 000, as the official SDK. */
  readonly heartbeatMs: number
}

export const defaultLimits: TinkerLimits = {
  concurrency: 64,
  retries: 8,
  baseDelayMs: 500,
  answerTimeoutMs: 60_000,
  resultTimeoutMs: 3_600_000,
  maxAnswerBytes: 64 * 2 ** 20,
  maxChunkBytes: 5_000_000,
  maxChunkData: 128,
  heartbeatMs: 10_000,
}
