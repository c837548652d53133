import { type Group, type Metrics, rng } from '../../../core/index.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { RolloutRun } from './rollout-run.ts'

/**
 * Weights learn from pairs of an update's own attempts, where something in their sequence makes them: what led to more over what
 * led to less. The reference is the weights as they stand before it.
 */
export async function prefer(
  run: RolloutRun,
  { plan: { preferring }, parameter, trainer, key }: TrainedWeights,
  { groups }: { readonly groups: readonly Group[] },
): Promise<Metrics> {
  const { update } = run.state
  const pairs = preferring?.pairsIn?.(groups, update, parameter)
  if (!preferring || !pairs) return {}
  const told = { preferred: pairs.length, preferenceTokens: 0 }
  if (pairs.length === 0) return told
  const random = rng('prefer', run.options.seed ?? 0, update, ...key)
  const metrics = await preferring.prefer({ trainer, pairs, passes: 1, rng: random, update })
  const { tokens = 0, loss = 0, accuracy = 0 } = metrics
  return { ...told, preferenceTokens: tokens, preferenceLoss: loss, preferenceAccuracy: accuracy }
}
