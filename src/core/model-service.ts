import type { Saved } from './blob-ref.ts'
import type { Renderer } from './renderer.ts'
import type { AdapterRef, Sampler } from './sampler.ts'
import type { Trainer } from './trainer.ts'

/** Which weights a trainer moves. */
export type TrainingMethod =
  | {
      readonly kind: 'lora'
      /** Inner dimension of each low-rank pair, ≥ 1. */
      readonly rank: number
      /** The pair's product is scaled by alpha / rank. */
      readonly alpha: number
      /** Projections that get a pair; default all of attention and MLP. */
      readonly targets?: readonly string[]
    }
  | { readonly kind: 'full' }
  | {
      /** Prompt tuning (Lester et al. 2021): vectors in front of every sequence learn, and the model stays as it is. */
      readonly kind: 'prompt'
      /** Vectors, each of which takes one position of the context, ≥ 1. */
      readonly length: number
      /**
       * What the vectors begin as: the embeddings of a text's tokens, or of these tokens, over and over where they are fewer.
       * Default: tokens of the vocabulary, drawn by the seed.
       */
      readonly initial?: string | readonly number[]
    }

/**
 * One base model with what is needed to sample from it, train adapters on it, and talk to it: the port behind which the
 * embedded engine and remote trainers are interchangeable.
 */
export interface ModelService {
  /** The base model's reference, as written in a `weights` Parameter. */
  readonly base: string
  /** Content hash of everything the base's behaviour hangs on: configuration, weights, tokenizer, chat template. */
  readonly baseHash: string
  readonly sampler: Sampler
  readonly renderer: Renderer
  trainer(method: TrainingMethod, seed: number): Promise<Trainer>
  /** Loads an adapter ({@link Trainer.saveWeights}) for sampling. */
  loadAdapter(weights: Saved): Promise<AdapterRef>
  close(): Promise<void>
}
