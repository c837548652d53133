import type { Float } from '../graph/index.ts'

/**
 * What a loss formula may read, each `[rows]` with one entry a target token, except the scalar bounds. Only
 * `logprobs` depends on the trained weights; the gradient of the formula with respect to it is the coefficient of
 * (onehot − softmax) in the gradient of the logits.
 */
export interface LossTerms {
  /** The trainer's log-probability of the target at the loss's temperature. */
  readonly logprobs: Float
  readonly weights: Float
  /** Log-probability under the behaviour policy, at the same temperature. */
  readonly oldLogprobs: Float
  readonly advantages: Float
  /** Bounds of the ratio, not ε. */
  readonly clipLow: Float
  readonly clipHigh: Float
}

/** A per-token loss: `[rows]`. The protocol sums it over tokens; the client normalises. */
export type TokenLoss = (terms: LossTerms) => Float
