import type { RecordedTrajectory } from '../core/index.ts'

/** What a codec reads: a trajectory of another system, and what it says that it earned. */
export type Imported = Pick<RecordedTrajectory, 'trajectory' | 'reward'>
