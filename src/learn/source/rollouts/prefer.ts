import { type Group, type Metrics, rng } from '../../../core/index.ts'
import type { RolloutRun } from './rollout-run.ts'

/**
 * Learns from pairs of an update's own attempts, where something in the run makes them: what led to more over what led to less.
 * Its reference is the weights as they stand before it.
 */
export async function prefer(run: RolloutRun, groups: readonly Group[]): Promise<Metrics> {
  const preferring = run.trained?.plan.preferring
  const pairs = preferring?.pairsIn?.(groups, run.state.update)
  if (!preferring || !pairs) return {}
  const told = { preferred: pairs.length, preferenceTokens: 0 }
  if (pairs.length === 0) return told
  const { update } = run.state
  const random = rng('prefer', run.options.seed ?? 0, update)
  const metrics = await preferring.prefer({ trainer: run.trainer, pairs, passes: 1, rng: random, update })
  const { tokens = 0, loss = 0, accuracy = 0 } = metrics
  return { ...told, preferenceTokens: tokens, preferenceLoss: loss, preferenceAccuracy: accuracy }
}
