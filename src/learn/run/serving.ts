import type { ParameterName, ParameterValue, Version, VersionInForce } from '../../core/index.ts'

/** What serves when a run begins: for each Parameter its Version, and the Generation of its decisions. */
export interface ServingVersions {
  readonly versions: ReadonlyMap<string, Version>
  readonly generation: number
}

/** Values that act in the place of those that serve, by Parameter. */
export type Acting = ReadonlyMap<ParameterName, { readonly value: ParameterValue; readonly inForce: VersionInForce }>
