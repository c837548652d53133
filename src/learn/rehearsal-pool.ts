import { demonstration } from '../agent/index.ts'
import type { Demonstration, Message, ScoredTrajectory, Trajectory, TrajectoryId } from '../core/index.ts'
import { type RenderedDemonstration, toolsOf } from './demonstrations.ts'
import type { LearnOptions } from './options.ts'
import { imitable, type Rehearsable } from './rehearsal.ts'
import type { Success } from './state.ts'
import type { FamilyOf } from './steer/index.ts'

/** What an update can rehearse: the demonstrations, and the policy's own successes, read from the store once. */
export class RehearsalPool {
  readonly #options: Pick<LearnOptions, 'store' | 'source' | 'model'>
  readonly #shown: readonly Rehearsable<Demonstration>[]
  readonly #read = new Map<TrajectoryId, readonly Demonstration[]>()

  constructor(
    options: Pick<LearnOptions, 'store' | 'source' | 'model'>,
    demonstrations: readonly RenderedDemonstration[],
    familyOf: FamilyOf,
  ) {
    this.#options = options
    this.#shown = demonstrations.map((item) => ({ family: familyOf(item), item }))
  }

  /** Everything there is to rehearse, with its family. */
  async with(successes: readonly Success[]): Promise<readonly Rehearsable<Demonstration>[]> {
    const own: Rehearsable<Demonstration>[] = []
    for (const success of successes) {
      for (const item of await this.#sequencesOf(success)) own.push({ family: success.family, item })
    }
    return [...this.#shown, ...own]
  }

  /** Keeps at hand what was just sampled, so that it need not be read again, and lets go of the rest. */
  remember(successes: readonly Success[], scored: readonly ScoredTrajectory[]): void {
    const wanted = new Map(successes.map((success) => [success.trajectory, success]))
    for (const { trajectory } of scored) {
      const success = wanted.get(trajectory.id)
      if (success && success.instruction === undefined) this.#read.set(trajectory.id, imitable(trajectory))
    }
    for (const id of this.#read.keys()) if (!wanted.has(id)) this.#read.delete(id)
  }

  async #sequencesOf({ trajectory: id, instruction }: Success): Promise<readonly Demonstration[]> {
    const known = this.#read.get(id)
    if (known) return known
    const trajectory = (await this.#options.store.trajectories.get(id))?.trajectory
    const sequences = trajectory ? await this.#toImitate(trajectory, instruction) : []
    this.#read.set(id, sequences)
    return sequences
  }

  async #toImitate(trajectory: Trajectory, instruction: string | undefined): Promise<readonly Demonstration[]> {
    return instruction === undefined ? imitable(trajectory) : [await this.#withoutHint(trajectory, instruction)]
  }

  /** A guided episode as it would be shown without its hint. */
  async #withoutHint({ nodes, task: asked }: Trajectory, instruction: string): Promise<Demonstration> {
    const messages = nodes.map(
      ({ message }): Message =>
        message.role === 'user'
          ? { ...message, content: message.content.replace(asked.instruction, () => instruction) }
          : message,
    )
    const { environment, train } = this.#options.source
    const task = train.find(({ id }) => id === asked.id)
    const tools = task ? await toolsOf(environment, task) : []
    return demonstration(messages, tools, this.#options.model.renderer)
  }
}
