import { z } from 'zod'
import { type Demonstration, type ParameterName, rng, type Run, type TrajectoryId } from '../../../core/index.ts'
import { imitable } from '../../../optimize/weights/index.ts'
import type { RolloutOptions } from '../../options.ts'
import { Success } from '../../run/state.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'

/** As much of a run's last checkpoint as tells what it succeeded at. */
const Kept = z.object({ successes: z.array(Success) })

/** A run that goes on from what earlier ones learned. */
interface Later {
  readonly run: Pick<Run, 'id' | 'startedAt'>
  /** What the agent's runs go by. */
  readonly key: string
  readonly options: Pick<RolloutOptions, 'store' | 'seed' | 'source'>
}

/** Runs that are looked through. */
const lookedThrough = 1_000
/** So many sequences are read, at least: few make a poor mix. */
const least = 64

/** What each of the weights of a run learned in earlier runs over rollouts, read once. */
export class EarlierSuccesses {
  readonly #run: Later
  readonly #read = new Map<ParameterName, readonly Demonstration[]>()

  constructor(run: Later) {
    this.#run = run
  }

  /**
   * Successes of earlier runs of the agent that are over, as these weights sampled them: the same whenever the run is resumed.
   * None of a task that validates or is held out now (invariant 6).
   */
  async of(one: Pick<TrainedWeights, 'parameter' | 'plan'>): Promise<readonly Demonstration[]> {
    const known = this.#read.get(one.parameter)
    if (known) return known
    const { anchoring, rehearsal } = one.plan
    const runs = Math.max(anchoring?.runs ?? 0, rehearsal?.runs ?? 0)
    const wanted = Math.max(least, anchoring?.sequences ?? 0)
    const { store, seed = 0, source } = this.#run.options
    const judging = new Set([...source.validation, ...source.holdout].map(({ id }) => id))
    const earlier: Demonstration[] = []
    for (const id of rng('earlier', seed).shuffle(await this.#ids(runs))) {
      if (earlier.length >= wanted) break
      const trajectory = (await store.trajectories.get(id))?.trajectory
      if (trajectory && !judging.has(trajectory.task.id)) earlier.push(...imitable(trajectory, one))
    }
    this.#read.set(one.parameter, earlier)
    return earlier
  }

  async #ids(most: number): Promise<readonly TrajectoryId[]> {
    const { run, key, options } = this.#run
    const { runs } = options.store
    const ids: TrajectoryId[] = []
    let found = 0
    for (const { id, status, startedAt } of await runs.list({ agent: key, limit: lookedThrough })) {
      if (found === most) break
      if (id === run.id || status !== 'completed' || startedAt > run.startedAt) continue
      const kept = Kept.safeParse((await runs.latestCheckpoint(id))?.state)
      if (!kept.success || kept.data.successes.length === 0) continue
      found += 1
      ids.push(...kept.data.successes.map(({ trajectory }) => trajectory))
    }
    return ids
  }
}
