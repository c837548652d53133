import type { Demonstration, Gradient, PolicySample, PreferencePair } from '../../core/index.ts'

/** What a batch comes to for the Parameter that learns. */
export interface Material {
  readonly temperature: number | null
  readonly gradients: readonly Extract<Gradient, { kind: 'weights' }>[]
  readonly demonstrations: readonly Demonstration[]
  readonly pairs: readonly PreferencePair[]
}

/** What earlier runs learned from, so that it is not forgotten. */
export interface Rehearsal {
  readonly samples: readonly PolicySample[]
  readonly demonstrations: readonly Demonstration[]
}
