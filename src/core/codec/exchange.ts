import type { RecordedTrajectory } from '../repository.ts'
import type { Signal } from '../signal.ts'

/** What leaves through a codec: a trajectory, what it earned, and the evidence about it. */
export interface Exported extends Pick<RecordedTrajectory, 'trajectory' | 'reward'> {
  readonly signals: readonly Signal[]
}

/** What a codec reads: a trajectory of another system, and what it says that it earned. */
export type Imported = Pick<RecordedTrajectory, 'trajectory' | 'reward'>
