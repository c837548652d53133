import type { SampledChunk, SampleStopReason } from '../../../core/index.ts'
import type { JobNearest } from '../nearest/mixer.ts'
import type { DrawParams } from './choose.ts'

/** One continuation to sample: what the engine hands to a shard. Plain data, so that it crosses threads. */
export interface SampleJob extends DrawParams {
  readonly id: number
  readonly prompt: Int32Array
  /** The weights to sample from, by the id they were loaded under; `null` is the base model. */
  readonly adapter: string | null
  readonly maxTokens: number
  /** The datastore that is mixed in; absent where none is. */
  readonly nearest?: JobNearest
  /** Sampling ends after one of these. */
  readonly stopTokens: readonly number[]
  readonly seed: number
  /** Position in the random stream of the first token: how many tokens the stream already yielded. */
  readonly firstDraw: number
  /** What it is held to; absent: nothing. */
  readonly grammar?: JobGrammar
  /** Whether its tokens are told as they are sampled; otherwise they are known at its end. */
  readonly streamed: boolean
}

/** The language of a job's whole answer: of the tokens that its stream yielded before, and those that it samples. */
export interface JobGrammar {
  /** As xgrammar compiles it; it was tried before. */
  readonly ebnf: string
  /** Those that may follow once it is complete. */
  readonly stopTokens: readonly number[]
}

/** One token of a streamed job, as it was sampled. */
export interface SampledToken {
  readonly job: number
  readonly token: number
  readonly behaviourLogprob: number
  readonly logprob: number
}

/** Is told the next tokens of one job. */
export type Listener = (next: Omit<SampledChunk, 'sample'>) => void

/** A job's outcome; the arrays have one entry a sampled token. */
export interface SampledTokens {
  readonly id: number
  readonly tokens: Int32Array
  readonly behaviourLogprobs: Float64Array
  readonly logprobs: Float64Array
  readonly stopReason: SampleStopReason
}
