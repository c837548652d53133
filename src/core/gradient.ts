import type { GroupId, VersionId } from './id.ts'
import type { ParameterName } from './parameter.ts'

/**
 * One root-to-leaf sample for a `weights` Parameter. The arrays have equal length, one entry a token; a token enters a
 * policy loss only where `advantages` is not 0, and only sampled tokens carry one (invariant 2).
 */
export interface PolicySample {
  /** Samples of one group share prefixes, which a trainer computes once. */
  readonly group: GroupId
  readonly tokens: readonly number[]
  /** 0 where the token was not sampled by this Parameter, or entered another branch's sample already. */
  readonly advantages: readonly number[]
  /** Behaviour log-probability; 0 where not sampled. */
  readonly behaviourLogprobs: readonly number[]
  /** Whether this Parameter sampled the token and this sample is the one that carries it. */
  readonly sampled: readonly boolean[]
  readonly temperature: number
  /** Whether top-k or top-p cut the distribution that any of its tokens was drawn from. */
  readonly truncated: boolean
}

/** What `backward` deposits on one Parameter from a batch. */
export type Gradient =
  | {
      readonly kind: 'weights'
      readonly parameter: ParameterName
      readonly version: VersionId
      readonly samples: readonly PolicySample[]
    }
  | {
      readonly kind: 'text'
      readonly parameter: ParameterName
      readonly version: VersionId
      /** One entry a decision: how good the episode was, and what a critic said of it. */
      readonly critiques: readonly { readonly advantage: number | null; readonly critique: string | null }[]
    }
