/**
 * The Sampler port: token completion with log-probabilities. One of the four Tinker verbs (`sample`).
 * Implementations: the embedded engine, Tinker servers, OpenAI-compatible endpoints that return token ids.
 */
import type { Grammar } from './grammar.ts'

/** How to choose the next token. Greedy is `temperature: 0`. */
export interface SamplingParams {
  /** At most this many sampled tokens, the stop token included; ≥ 1. */
  readonly maxTokens: number
  /**
   * Softmax temperature. 0 takes the most likely token (its behaviour log-probability is then 0); else the embedded engine
   * takes 1e-20 to 1e4, what float32 can divide logits by. Default 1.
   */
  readonly temperature?: number
  /** Keep only the k most likely tokens; omitted = all. A truncated sample cannot enter a policy gradient (invariant 2). */
  readonly topK?: number
  /** Keep the smallest set of most likely tokens whose mass reaches p, in (0, 1]; omitted = all. Truncates too. */
  readonly topP?: number
  /**
   * Mixes in what followed the most similar contexts of a datastore: see {@link NearestParams}. A trainer cannot reproduce
   * the mixture: such a sample cannot enter a policy gradient (invariant 2). Only samplers whose capabilities have
   * `datastores`.
   */
  readonly nearest?: NearestParams
  /** Sampling ends when the decoded text contains one of these; the tokens that complete it are part of the result. */
  readonly stop?: readonly string[]
  /** Sampling ends after one of these tokens, which is part of the result. */
  readonly stopTokens?: readonly number[]
  /**
   * Only sequences of this language: tokens that cannot continue it are never drawn, and once it is complete, only one of
   * `stopTokens` may follow, which must not be empty then. A sequence that ends otherwise (its length, a stop string) is a
   * beginning of one. It truncates, as `topK` does: behaviour log-probabilities are over the allowed tokens, and such a
   * sample cannot enter a policy gradient (invariant 2). Only samplers whose capabilities have `grammars`.
   */
  readonly grammar?: Grammar
  /** Seeds this sequence's random stream: equal seed, prompt, params and weights give equal tokens in deterministic mode. */
  readonly seed?: number
}

/**
 * Nearest-neighbour language modelling (kNN-LM: Khandelwal et al. 2019, arXiv:1911.00172). A token is drawn from
 * p = λ · p_kNN + (1 − λ) · p_LM. p_LM is the model at `SamplingParams.temperature` (at 1 where that is 0: greedy takes the
 * most likely token of the mixture). p_kNN of a token is proportional to the sum of exp(−d / T) over those of the k nearest
 * entries of the datastore that the token followed; d is the squared Euclidean distance of hidden states. `topK` and `topP`
 * cut the mixture. Both log-probabilities of a sample are of the mixture: the behaviour one of what was drawn from, the other
 * of the mixture with the model at temperature 1.
 */
export interface NearestParams {
  readonly datastore: DatastoreRef
  /** λ, in [0, 1]. 0 is the model exactly. */
  readonly weight: number
  /** k, from 1 to 1,024. */
  readonly neighbours: number
  /** T, above 0, in the unit of squared distances between the model's hidden states: fit it on text that is not measured. */
  readonly temperature: number
}

/** Why a sequence ended. `cancelled`: the caller's AbortSignal fired; the tokens so far are returned. */
export type SampleStopReason = 'stop' | 'length' | 'cancelled'

/** One sampled continuation. The three arrays have equal length, one entry a token. */
export interface SampledSequence {
  readonly tokens: readonly number[]
  /** Log-probability of each token under the distribution it was drawn from (temperature, grammar and truncation applied). */
  readonly behaviourLogprobs: readonly number[]
  /** Log-probability of each token under the full vocabulary at temperature 1. */
  readonly logprobs: readonly number[]
  readonly stopReason: SampleStopReason
}

/** Tokens of one continuation as they are sampled: the next ones of sequence `sample`. The arrays have equal length. */
export interface SampledChunk extends Pick<SampledSequence, 'tokens' | 'behaviourLogprobs' | 'logprobs'> {
  /** Index of the continuation, from 0. */
  readonly sample: number
}

/** One prompt to continue. `adapter` names a loaded adapter; `null` is the base model exactly (invariant 9). */
export interface SampleRequest {
  readonly prompt: readonly number[]
  readonly adapter: AdapterRef | null
  readonly params: SamplingParams
  /** Independent continuations of the prompt, ≥ 1; sequence i uses seed + i, modulo 2⁵³. Default 1. */
  readonly samples?: number
  readonly signal?: AbortSignal
  /** Told of tokens as they are sampled, in order; all of them before the promise resolves. It must not throw. */
  readonly onTokens?: (chunk: SampledChunk) => void
}

/**
 * A reference to adapter weights that a Sampler holds. Pinned from first to last token of a request (invariant 11):
 * loading new weights makes a new reference and never changes what an existing one means.
 */
export interface AdapterRef {
  readonly kind: 'adapter'
  /** Unique within the sampler that issued it. */
  readonly id: string
  /** Positions of the context that it takes from prompt and continuation, as a soft prompt does. Default 0. */
  readonly positions?: number
}

/** A reference to a datastore of contexts and next tokens that a Sampler holds. */
export interface DatastoreRef {
  readonly kind: 'datastore'
  /** Unique within the sampler that issued it. */
  readonly id: string
}

/** What a sampler is and can do: engine differences are named here, never scattered through callers. */
export interface SamplerCapabilities {
  readonly model: string
  readonly vocabularySize: number
  /** Longest prompt plus continuation, in tokens. */
  readonly contextLength: number
  /** Whether equal seeds give equal tokens whatever else runs beside them. */
  readonly deterministic: boolean
  /** Whether it draws at other temperatures than 0 and 1. Default true; else it refuses them. */
  readonly temperatures?: boolean
  /**
   * How far its log-probabilities may be from those of its trainer, in nats, where both round on the way. Default: as float32
   * does.
   */
  readonly agreement?: number
  /** Whether it holds sequences to a {@link SamplingParams.grammar}. Default false: it refuses them. */
  readonly grammars?: boolean
  /** Whether it mixes in {@link SamplingParams.nearest}. Default false: it refuses it. */
  readonly datastores?: boolean
}

/** Continues prompts, from the base model or an adapter over it. */
export interface Sampler {
  readonly capabilities: SamplerCapabilities
  /**
   * Continues one prompt. Concurrent calls are batched by the implementation.
   * @throws InputError when the prompt is empty, too long, or holds a token outside the vocabulary, and for a grammar to
   *   which nothing can be held.
   */
  sample(request: SampleRequest): Promise<readonly SampledSequence[]>
  /** Forgets an adapter that no request in flight uses any more. */
  unload(adapter: AdapterRef): Promise<void>
}

/** Tokens that prompt and continuation may have together under an adapter. */
export const contextUnder = ({ capabilities }: Pick<Sampler, 'capabilities'>, adapter: AdapterRef | null): number =>
  capabilities.contextLength - (adapter?.positions ?? 0)
