import type { Demonstration, PolicySample, PreferencePair, TrajectoryId } from '../../../core/index.ts'

/** What a batch comes to for the Parameter that learns. */
export interface Material {
  readonly temperature: number | null
  readonly samples: readonly PolicySample[]
  readonly demonstrations: readonly Demonstration[]
  /** Trajectories that are practised on, and those that demonstrations come from: some are both. */
  readonly practised: ReadonlySet<TrajectoryId>
  readonly demonstrated: ReadonlySet<TrajectoryId>
  readonly pairs: readonly PreferencePair[]
}
