import { demonstration } from '../agent/index.ts'
import {
  branches,
  type Demonstration,
  type Message,
  type Rng,
  type ScoredTrajectory,
  type ToolDefinition,
  type Trajectory,
  type TrajectoryId,
} from '../core/index.ts'
import { type Demonstrations, toolsOf } from './demonstrations.ts'
import type { LearnOptions } from './options.ts'
import { drawRehearsal, imitable, type Rehearsable } from './rehearsal.ts'
import type { Success } from './state.ts'
import type { FamilyOf, Standing } from './steer/index.ts'

/** How much to rehearse, and of what. */
export interface Rehearsal {
  /** The policy's own successes. */
  readonly successes: readonly Success[]
  readonly count: number
  readonly standing: Standing
  /** The share of the demonstrations that is told of other things, and of the successes that is asked in other words. */
  readonly augmented: number
  readonly reworded: number
  readonly random: Rng
}

/** A success as it was sampled; and as a conversation, where its context was never cut or rewritten. */
interface Read {
  readonly sequences: readonly Demonstration[]
  readonly conversation: Conversation | null
}

interface Conversation {
  readonly instruction: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDefinition[]
}

/** What an update can rehearse: the demonstrations, and the policy's own successes. */
export class RehearsalPool {
  readonly #options: Pick<LearnOptions, 'store' | 'source' | 'model'>
  readonly #demonstrations: Demonstrations
  readonly #families: readonly string[]
  readonly #own = new Map<TrajectoryId, Promise<Read>>()

  constructor(
    options: Pick<LearnOptions, 'store' | 'source' | 'model'>,
    demonstrations: Demonstrations,
    familyOf: FamilyOf,
  ) {
    this.#options = options
    this.#demonstrations = demonstrations
    this.#families = demonstrations.given.map((one) => familyOf(one))
  }

  /** Draws what to rehearse, from families on which little succeeds the most. */
  async drawn({ successes, count, standing, augmented, reworded, random }: Rehearsal): Promise<Demonstration[]> {
    const pool: Rehearsable<number | Success>[] = successes.map((item) => ({ family: item.family, item }))
    for (const [item, family] of this.#families.entries()) pool.push({ family, item })
    const sequences: Demonstration[] = []
    for (const item of drawRehearsal(pool, count, standing, random)) {
      if (typeof item === 'number') sequences.push(this.#demonstrations.told(item, augmented, random))
      else sequences.push(...(await this.#told(item, random.next() < reworded ? random : null)))
    }
    return sequences
  }

  /** Keeps at hand what was just sampled, so that it need not be read again, and lets go of what is no success any more. */
  remember(successes: readonly Success[], scored: readonly ScoredTrajectory[]): void {
    const wanted = new Map(successes.map((success) => [success.trajectory, success]))
    for (const { trajectory } of scored) {
      const success = wanted.get(trajectory.id)
      if (success) this.#own.set(trajectory.id, this.#read(trajectory, success.instruction))
    }
    for (const id of this.#own.keys()) if (!wanted.has(id)) this.#own.delete(id)
  }

  /** @param random tells it in other words. */
  async #told({ trajectory: id, instruction }: Success, random: Rng | null): Promise<readonly Demonstration[]> {
    const read = this.#own.get(id) ?? this.#stored(id, instruction)
    this.#own.set(id, read)
    const { sequences, conversation } = await read
    if (random === null || conversation === null) return sequences
    return [this.#rendered(this.#demonstrations.augmenter.reworded(conversation, random), conversation.tools)]
  }

  async #stored(id: TrajectoryId, instruction: string | undefined): Promise<Read> {
    const trajectory = (await this.#options.store.trajectories.get(id))?.trajectory
    return trajectory ? this.#read(trajectory, instruction) : { sequences: [], conversation: null }
  }

  /** @param instruction what was asked, where the episode also had a hint: it is shown without. */
  async #read(trajectory: Trajectory, instruction: string | undefined): Promise<Read> {
    const { environment, train } = this.#options.source
    const { task: asked } = trajectory
    const task = train.find(({ id }) => id === asked.id)
    if (task === undefined || branches(trajectory).length !== 1) {
      return { sequences: instruction === undefined ? imitable(trajectory) : [], conversation: null }
    }
    const messages = trajectory.nodes.map(({ message }) => withoutHint(message, asked.instruction, instruction))
    const conversation = { instruction: task.instruction, messages, tools: await toolsOf(environment, task) }
    const sequences = instruction === undefined ? imitable(trajectory) : [this.#rendered(messages, conversation.tools)]
    return { sequences, conversation }
  }

  #rendered(messages: readonly Message[], tools: readonly ToolDefinition[]): Demonstration {
    return demonstration(messages, tools, this.#options.model.renderer)
  }
}

function withoutHint(message: Message, asked: string, instruction: string | undefined): Message {
  if (instruction === undefined || message.role !== 'user') return message
  return { ...message, content: message.content.replace(asked, () => instruction) }
}
