import type { AdapterRef, Saved } from '../../../core/index.ts'
import { savedAt } from '../../../core/index.ts'
import { type Policy, whileLoaded } from '../../episodes.ts'
import type { Values } from '../../run/learners.ts'
import type { RolloutRun } from './rollout-run.ts'

/** What acts, but for how warm it samples. */
export type Actor = Omit<Policy, 'temperature'>

/**
 * Works with what learning acts with now: the trainer's weights, and what the other learners ask for.
 * @param given values that act in the place of what their learners ask for.
 */
export async function whileLearning<T>(
  run: RolloutRun,
  work: (actor: Actor, values: Values) => Promise<T>,
  given?: Values,
): Promise<T> {
  const { state, options } = run
  const values = new Map([...(await run.learners.bound(given)), ...(given ?? [])])
  if (!run.trained) return whileServing(run, values, (actor) => work(actor, values))
  const inForce = run.inForce(run.servingVersion.id, state.update)
  const others = run.acting(values, state.update)
  return whileLoaded(options.model.sampler, await run.trainer.publish(), (adapter) =>
    work({ adapter, inForce, others }, values),
  )
}

/** Works with what learning has come to: weights where the run trains some, and values of the other learners. */
export async function whileSettled<T>(
  run: RolloutRun,
  weights: Saved | null,
  values: Values,
  work: (actor: Actor) => Promise<T>,
): Promise<T> {
  const { state, options } = run
  if (weights === null) return whileServing(run, values, work)
  const inForce = run.inForce(run.servingVersion.id, state.update)
  const others = run.acting(values, state.update)
  return whileLoaded(options.model.sampler, await options.model.loadAdapter(weights), (adapter) =>
    work({ adapter, inForce, others }),
  )
}

/** Works with the weights that serve, if the agent has any, and these values of other Parameters. */
async function whileServing<T>(run: RolloutRun, values: Values, work: (actor: Actor) => Promise<T>): Promise<T> {
  const { model, store } = run.options
  const { servingAdapter } = run
  const actor = { inForce: run.servingInForce, others: run.acting(values, run.state.update) }
  if (servingAdapter === null) return work({ adapter: null, ...actor })
  const loaded = await model.loadAdapter(await savedAt(store.blobs, servingAdapter))
  return whileLoaded(model.sampler, loaded, (adapter: AdapterRef) => work({ adapter, ...actor }))
}
