import type { Loss } from '../../../core/index.ts'

/** A loss of policy gradient, with bounds on the ratio itself; see {@link slopesOf} for those that no trainer knows. */
export type PolicyLoss =
  | { readonly kind: 'importance_sampling' }
  | Clipped<'cispo'>
  | Clipped<'gspo'>
  | (Clipped<'ppo'> & {
      /** Dual clip: the most that the ratio of a token with an advantage below 0 counts, above 1. */
      readonly dualClip?: number
    })

interface Clipped<K extends string> {
  readonly kind: K
  readonly clipLow: number
  readonly clipHigh: number
}

/** What one sample's loss is made of; equal lengths, one entry a target. */
export interface SampleTerms {
  /** The trainer's log-probabilities. */
  readonly logprobs: readonly number[]
  /** Of the policy that sampled. */
  readonly oldLogprobs: readonly number[]
  /** A token without an advantage (0) is no part of the loss. */
  readonly advantages: readonly number[]
}

/** A loss of one sample, and its slope in each log-probability. */
export interface Slopes {
  readonly loss: number
  readonly slopes: readonly number[]
}

/** The loss as a trainer knows it; `null`: it knows none such. */
export function trainersLoss(loss: PolicyLoss, temperature: number): Loss | null {
  if (loss.kind === 'gspo') return null
  if (loss.kind === 'importance_sampling') return { kind: loss.kind, temperature }
  const { kind, clipLow, clipHigh } = loss
  return kind === 'ppo' && loss.dualClip !== undefined ? null : { kind, clipLow, clipHigh, temperature }
}
