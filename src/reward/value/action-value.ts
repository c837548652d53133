import { z } from 'zod'
import { linear, type Ranker } from '../../core/index.ts'
import { RewardError } from '../errors.ts'
import type { MoveFeatures } from './move-features.ts'

/** What will be earned from here on if this is said: linear in features, and in the log-probability. JSON, to be kept. */
export const ActionValue = z.strictObject({
  kind: z.literal('action-value'),
  /** Names what made the features: a value reads no others. */
  features: z.string(),
  /** The value where all features are at their centre. */
  middle: z.number(),
  centre: z.array(z.number()),
  weights: z.array(z.number()),
  /** What it began as: a line that rises with the log-probability. A log-probability that nobody told counts as `middle`. */
  logprob: z.strictObject({ slope: z.number().nonnegative(), middle: z.number() }),
})
export type ActionValue = z.infer<typeof ActionValue>

/**
 * The value of something with these features and this log-probability.
 * @throws RewardError for features of another number.
 */
export function actionValue(value: ActionValue, features: readonly number[], logprob: number | null): number {
  if (features.length !== value.centre.length) {
    throw new RewardError({
      code: 'reward/bad-features',
      message: `The value reads ${value.centre.length} features ("${value.features}") and was given ${features.length}.`,
      hint: 'Give it the features that it was fitted to, or fit it again to these.',
    })
  }
  return linear(value, features) + begun(value.logprob, logprob)
}

/** By how much what a value began as lies above its mean. */
export const begun = ({ slope, middle }: ActionValue['logprob'], logprob: number | null): number =>
  logprob === null ? 0 : slope * (logprob - middle)

/**
 * Ranks what may be said by its value: for an agent that says the best of several.
 * @throws RewardError where the value was fitted to other features.
 */
export function valueRanker(value: ActionValue, features: MoveFeatures): Ranker {
  if (value.features !== features.name) {
    throw new RewardError({
      code: 'reward/other-features',
      message: `The value was fitted to the features "${value.features}" and is given "${features.name}".`,
      hint: 'Give it the features that it was fitted to, or fit it again to these.',
    })
  }
  return {
    name: `value of ${value.features}`,
    async rank(read, candidates) {
      const rows = await features.of(candidates.map(({ message }) => ({ read, said: message })))
      return candidates.map(({ logprob }, i) => actionValue(value, rows[i] ?? [], logprob))
    },
  }
}
