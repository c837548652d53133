import {
  OneAtATime,
  partSize,
  type RecordedTrajectory,
  type Store,
  type TrajectoryId,
  turns,
} from '../../core/index.ts'

/** A larger trajectory is not read back: that would take longer than any call may wait. */
const mostBytesRead = 8 * 1024 * 1024

/** What reading a trajectory back came to. */
export type ReadBack =
  | { readonly kind: 'found'; readonly recorded: RecordedTrajectory; readonly weight: number }
  | { readonly kind: 'none' | 'too-large' }

/** Reads trajectories back from the store: large ones one at a time, each in a turn of the event loop of its own. */
export class ReadingBack {
  readonly #trajectories: Store['trajectories']
  readonly #line = new OneAtATime()

  constructor(trajectories: Store['trajectories']) {
    this.#trajectories = trajectories
  }

  async read(trajectory: TrajectoryId): Promise<ReadBack> {
    const size = await this.#trajectories.size(trajectory)
    const weight = size?.bytes ?? 0
    if (weight > mostBytesRead) return { kind: 'too-large' }
    const get = () => this.#get(trajectory, weight)
    return weight > partSize ? this.#line.run(get) : get()
  }

  async #get(trajectory: TrajectoryId, weight: number): Promise<ReadBack> {
    const recorded = await this.#trajectories.get(trajectory)
    await turns.next(weight)
    return recorded === null ? { kind: 'none' } : { kind: 'found', recorded, weight }
  }
}
