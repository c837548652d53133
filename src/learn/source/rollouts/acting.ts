import type { Saved } from '../../../core/index.ts'
import type { Policy } from '../../episodes.ts'
import { whileActing } from '../../run/acting-weights.ts'
import type { Values } from '../../run/learners.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import type { KeptWeights, RolloutRun } from './rollout-run.ts'

/** What acts, but for how warm it samples. */
export type Actor = Omit<Policy, 'temperature'>

/**
 * Works with what learning acts with now: the weights that its trainers hold, and what the other learners ask for.
 * @param given values that act in the place of what their learners ask for.
 */
export async function whileLearning<T>(
  run: RolloutRun,
  work: (actor: Actor, values: Values) => Promise<T>,
  given?: Values,
): Promise<T> {
  const { update } = run.state
  const values = new Map([...(await run.learners.bound(given)), ...(given ?? [])])
  const acting = new Map(run.weights.map((one) => [one.parameter, one.actingNow(update)]))
  return whileActing(run, acting, (weights) => work({ weights, others: run.acting(values, update) }, values))
}

/** Weights that are trained, as they were saved. */
export type Settled = ReadonlyMap<TrainedWeights<KeptWeights>, Saved>

/** Works with what learning has come to: weights that the run trains, and values of the other learners. */
export function whileSettled<T>(
  run: RolloutRun,
  settled: Settled,
  values: Values,
  work: (actor: Actor) => Promise<T>,
): Promise<T> {
  const { update } = run.state
  const acting = new Map([...settled].map(([one, saved]) => [one.parameter, one.actingAs(saved, update)]))
  return whileActing(run, acting, (weights) => work({ weights, others: run.acting(values, update) }))
}
