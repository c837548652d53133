import type { Models } from '../../agent/index.ts'
import type { AdapterRef, ModelService, ParameterName, VersionInForce } from '../../core/index.ts'
import { type Policy, whileLoaded } from '../episodes.ts'

/** Weights that are to act. */
export interface ActingWeights {
  /** Loads their adapter; `null`: the base model exactly. */
  readonly load: (() => Promise<AdapterRef>) | null
  readonly inForce: VersionInForce
}

/** Weights that are to act, by their Parameter. */
export type WeightsToAct = ReadonlyMap<ParameterName, ActingWeights>

/** A run, as its weights act. */
interface Acts {
  readonly models: Models
  modelOf(parameter: ParameterName): ModelService
  servingWeights(parameter: ParameterName): ActingWeights
}

/**
 * Works with these weights, and with what serves of the agent's other weights. Adapters are loaded for it, and unloaded at the
 * end, whichever way it ends.
 */
export function whileActing<T>(
  run: Acts,
  weights: WeightsToAct,
  work: (weights: Policy['weights']) => Promise<T>,
): Promise<T> {
  const withAll = async (left: readonly ParameterName[], loaded: Policy['weights']): Promise<T> => {
    const [parameter, ...others] = left
    if (parameter === undefined) return work(loaded)
    const { load, inForce } = weights.get(parameter) ?? run.servingWeights(parameter)
    const next = (adapter: AdapterRef | null) =>
      withAll(others, new Map([...loaded, [parameter, { adapter, inForce }]]))
    return load === null ? next(null) : whileLoaded(run.modelOf(parameter).sampler, await load(), next)
  }
  return withAll([...run.models.keys()], new Map())
}
