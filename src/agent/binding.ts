import type { AdapterRef, Renderer, Sampler, SamplingParams } from '../core/index.ts'
import type { EpisodeBudget } from './budget.ts'
import type { VersionInForce } from './recorder.ts'

/** What a `weights` Parameter acts with during one episode. */
export interface WeightsBinding {
  readonly kind: 'weights'
  readonly inForce: VersionInForce
  readonly sampler: Sampler
  readonly renderer: Renderer
  /** `null` is the base model exactly. */
  readonly adapter: AdapterRef | null
  readonly sampling: Pick<SamplingParams, 'temperature' | 'topK' | 'topP'>
  readonly budget: EpisodeBudget
  /** Seeds every policy call of the episode, by position. */
  readonly seed: number
  readonly signal?: AbortSignal
  readonly now: () => number
}

/** What a `text` Parameter says during one episode. */
export interface TextBinding {
  readonly kind: 'text'
  readonly inForce: VersionInForce
  readonly text: string
}

/** The values in force for one Parameter during one episode. */
export type ParameterBinding = WeightsBinding | TextBinding
