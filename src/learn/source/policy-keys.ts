import { z } from 'zod'

/** Losses that a configuration's `policy` may name. */
export const PolicyLossName = z.enum(['importance_sampling', 'ppo', 'cispo', 'gspo'])

/** Keys of `policy` that are alike, whatever a run learns from; see `PolicyGradientOptions`. */
export const policyKeys = {
  /** `ppo` only: bounds what an unlikely token of a bad attempt counts, once it has become likely. */
  dualClip: z.number().positive().exactOptional(),
  /** What the loss is divided by: a batch's tokens, each episode's and the episodes, or a length and the episodes. */
  normalise: z
    .union([z.enum(['token', 'sequence']), z.strictObject({ constant: z.number().positive() })])
    .exactOptional(),
  /** Truncates the weights of samples that another engine drew; by default they have none. */
  mismatchCap: z.number().min(1).exactOptional(),
}
