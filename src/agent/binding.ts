import type { AdapterRef, Binding, Bound, Renderer, Sampler, SamplingParams } from '../core/index.ts'
import type { BestOf } from './best-of.ts'
import type { EpisodeBudget } from './budget.ts'
import type { ForcedTurns } from './forced-turns.ts'

/** What a `weights` Parameter acts with during one episode: its value, loaded into a model. */
export interface WeightsBinding extends Binding {
  readonly kind: 'weights'
  readonly sampler: Sampler
  readonly renderer: Renderer
  /** `null` is the base model exactly. */
  readonly adapter: AdapterRef | null
  readonly sampling: Pick<SamplingParams, 'temperature' | 'topK' | 'topP' | 'nearest'>
  readonly budget: EpisodeBudget
  /** Where each turn is the best of several. Default: what is sampled is said. */
  readonly best?: BestOf
  /** What is said first, in the place of the model's turns; the best of several is not asked for then. Default: nothing. */
  readonly forced?: ForcedTurns
  /** Seeds every policy call of the episode, by position. */
  readonly seed: number
  readonly signal?: AbortSignal
  readonly now: () => number
}

/** What is in force for one Parameter during one episode. */
export type ParameterBinding = WeightsBinding | Bound<unknown>
