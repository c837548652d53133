import { mintVersion, type ParameterName, type Version } from '../core/index.ts'
import type { Agent } from './agent.ts'
import { storedValue } from './kind-value.ts'

/**
 * The Versions of an agent before anything is learned.
 * @param hashOf the content of a base model, which a Parameter of weights rests on.
 * @throws KindError for an initial value that its Kind's schema refuses.
 */
export function initialVersions(
  { parameters }: Agent,
  hashOf: (base: string, parameter: ParameterName) => string,
): ReadonlyMap<ParameterName, Version> {
  return new Map(
    Object.entries(parameters).map(([name, definition]) => {
      const value = storedValue(
        name,
        definition.of,
        definition.initial((base) => hashOf(base, name)),
      )
      return [name, mintVersion(name, value, { parents: [], run: null })]
    }),
  )
}
