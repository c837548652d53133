import { mintVersion, type ParameterName, type Version } from '../core/index.ts'
import type { Agent } from './agent.ts'
import { storedValue } from './kind-value.ts'
import type { BaseHashes } from './parameters.ts'

/**
 * The Versions of an agent before anything is learned.
 * @throws KindError for an initial value that its Kind's schema refuses.
 */
export function initialVersions({ parameters }: Agent, bases: BaseHashes): ReadonlyMap<ParameterName, Version> {
  return new Map(
    Object.entries(parameters).map(([name, definition]) => {
      const value = storedValue(name, definition.of, definition.initial(bases))
      return [name, mintVersion(name, value, { parents: [], run: null })]
    }),
  )
}
