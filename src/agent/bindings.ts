import { type Audience, type ParameterName, type ParameterValue, rng, type VersionInForce } from '../core/index.ts'
import type { Agent } from './agent.ts'
import type { ParameterBinding, WeightsBinding } from './binding.ts'
import { valueIn } from './kind-value.ts'
import { asWeightsDefinition } from './parameters.ts'

/** What acts in one episode. */
export interface ActsInEpisode {
  /** A Parameter's value, and which Version of it that is; one without any stays unbound. */
  readonly values: (
    parameter: ParameterName,
  ) => { readonly value: ParameterValue; readonly inForce: VersionInForce } | undefined
  /** What answers for a Parameter of weights; one without any stays unbound. */
  readonly weights: (parameter: ParameterName) => Omit<WeightsBinding, 'kind'> | null
  /** The episode's own: every Parameter draws its chance from it. */
  readonly seed: number
  /** Whom it serves; absent where nobody said. */
  readonly audience?: Audience
}

/**
 * Binds an agent's Parameters for one episode.
 * @throws KindError for a value that is not of its Parameter's Kind.
 */
export function bindingsOf(
  { parameters }: Agent,
  { values, weights, seed, audience }: ActsInEpisode,
): Readonly<Record<ParameterName, ParameterBinding>> {
  const bindings: Record<ParameterName, ParameterBinding> = {}
  for (const [name, definition] of Object.entries(parameters)) {
    if (asWeightsDefinition(definition)) {
      const answering = weights(name)
      if (answering) bindings[name] = { kind: 'weights', ...answering }
      continue
    }
    const acts = values(name)
    if (acts === undefined) continue
    const { inForce } = acts
    const value = valueIn(name, definition.of, acts.value)
    bindings[name] = {
      kind: definition.kind,
      inForce,
      value,
      rng: rng('acts', seed, name),
      ...(audience && { audience }),
    }
  }
  return bindings
}
