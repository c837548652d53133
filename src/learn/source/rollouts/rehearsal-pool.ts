import { demonstration } from '../../../agent/index.ts'
import {
  branches,
  type Demonstration,
  type Message,
  type ParameterName,
  type Rng,
  type ScoredTrajectory,
  type Task,
  type ToolDefinition,
  type Trajectory,
  type TrajectoryId,
} from '../../../core/index.ts'
import { type Demonstrations, toolsOf } from './demonstrations.ts'
import { imitable, saidAll } from '../../../optimize/weights/index.ts'
import type { RolloutOptions } from '../../options.ts'
import type { TrainedWeights } from '../../run/trained-weights.ts'
import { drawRehearsal, type Rehearsable } from './rehearsal.ts'
import type { Success } from '../../run/state.ts'
import type { FamilyOf, Standing } from '../../steer/index.ts'

/** How much to rehearse, and of what. */
export interface Rehearsal {
  /** The policy's own successes. */
  readonly successes: readonly Success[]
  readonly count: number
  readonly standing: Standing
  /** The share of the demonstrations and successes that is told of other things. */
  readonly augmented: number
  readonly random: Rng
}

/** Weights that rehearse. */
type Rehearsing = Pick<TrainedWeights, 'parameter' | 'model'>

/** What an update can rehearse: the demonstrations, and the policy's own successes. */
export class RehearsalPool {
  readonly #options: Pick<RolloutOptions, 'store' | 'source'>
  readonly #demonstrations: Demonstrations
  /** The weights that imitate the demonstrations. */
  readonly #taught: ParameterName | null
  readonly #families: readonly string[]
  readonly #own = new Map<TrajectoryId, Trajectory>()
  readonly #tools = new Map<string, readonly ToolDefinition[]>()

  constructor(
    options: Pick<RolloutOptions, 'store' | 'source'>,
    demonstrations: Demonstrations,
    taught: ParameterName | null,
    familyOf: FamilyOf,
  ) {
    this.#options = options
    this.#demonstrations = demonstrations
    this.#taught = taught
    this.#families = demonstrations.given.map((one) => familyOf(one))
  }

  /** Draws what these weights rehearse, from families on which little succeeds the most. */
  async drawn(one: Rehearsing, { successes, count, standing, augmented, random }: Rehearsal): Promise<Demonstration[]> {
    const pool: Rehearsable<number | Success>[] = successes.map((item) => ({ ...item, item }))
    for (const [item, family] of one.parameter === this.#taught ? this.#families.entries() : []) {
      pool.push({ family, tools: this.#demonstrations.given[item]?.tools ?? [], forced: false, item })
    }
    const sequences: Demonstration[] = []
    for (const item of drawRehearsal(pool, count, standing, random)) {
      if (typeof item === 'number') sequences.push(this.#demonstrations.told(item, augmented, random))
      else sequences.push(...(await this.#told(one, item, augmented, random)))
    }
    return sequences
  }

  /** Keeps at hand what was just sampled, so that it need not be read again, and lets go of what is no success any more. */
  remember(successes: readonly Success[], scored: readonly ScoredTrajectory[]): void {
    const wanted = new Set(successes.map(({ trajectory }) => trajectory))
    for (const { trajectory } of scored) if (wanted.has(trajectory.id)) this.#own.set(trajectory.id, trajectory)
    for (const id of this.#own.keys()) if (!wanted.has(id)) this.#own.delete(id)
  }

  /** A success as it was sampled, in its task's own words; or told of other things, with this probability. */
  async #told(
    { parameter, model: { renderer, sampler } }: Rehearsing,
    { trajectory: id }: Success,
    augmented: number,
    random: Rng,
  ): Promise<readonly Demonstration[]> {
    const trajectory = await this.#trajectoryOf(id)
    if (trajectory === null) return []
    const task = this.#options.source.train.find((one) => one.id === trajectory.task.id)
    const asked = trajectory.task.instruction
    const plain = task === undefined || task.instruction === asked
    // A context that was cut or rewritten on the way is no one conversation, and one that others spoke in is not its own.
    const own = branches(trajectory).length === 1 && saidAll(trajectory, parameter)
    if (task === undefined || !own) return plain ? imitable(trajectory, { parameter }) : []
    const messages = trajectory.nodes.map(({ message }) => askedAs(task.instruction, message, asked))
    const told = this.#demonstrations.augmenter.told({ messages, task }, augmented, random)
    if (told === null && plain) return imitable(trajectory, { parameter })
    const one = demonstration(told ?? messages, await this.toolsOf(task), renderer)
    // What is told otherwise can be too long for the model's context.
    return one.tokens.length > sampler.capabilities.contextLength ? [] : [one]
  }

  async #trajectoryOf(id: TrajectoryId): Promise<Trajectory | null> {
    const known = this.#own.get(id) ?? (await this.#options.store.trajectories.get(id))?.trajectory
    if (known) this.#own.set(id, known)
    return known ?? null
  }

  /** The tools of an episode on a task: one is opened the first time. */
  async toolsOf(task: Task): Promise<readonly ToolDefinition[]> {
    const tools = this.#tools.get(task.id) ?? (await toolsOf(this.#options.source.environment, task))
    this.#tools.set(task.id, tools)
    return tools
  }
}

/** A message with the task's own instruction: without its hint, and in its own words. */
function askedAs(instruction: string, message: Message, asked: string): Message {
  if (message.role !== 'user') return message
  return { ...message, content: message.content.replace(asked, () => instruction) }
}
