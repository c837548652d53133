import { demonstration } from '../agent/index.ts'
import type {
  DemonstratedEpisode,
  Demonstration,
  Environment,
  Renderer,
  Rng,
  Task,
  ToolDefinition,
} from '../core/index.ts'
import { present } from '../errors/index.ts'
import type { LearnOptions } from './options.ts'
import { Augmenter, instructionOf } from './augment/index.ts'

/** A demonstration as the model reads it, with what was asked in it. */
export interface RenderedDemonstration extends Demonstration {
  readonly instruction: string
}

/** Demonstrations to imitate: as they were given, and told of other things. */
export class Demonstrations {
  /** As they were given, in their order. */
  readonly given: readonly RenderedDemonstration[]
  /** Tells them of other things. */
  readonly augmenter: Augmenter
  readonly #shown: readonly Shown[]
  readonly #renderer: Renderer

  private constructor(shown: readonly Shown[], augmenter: Augmenter, renderer: Renderer) {
    this.#shown = shown
    this.augmenter = augmenter
    this.#renderer = renderer
    this.given = shown.map(({ episode, tools }) => ({
      ...demonstration(episode.messages, tools, renderer),
      instruction: instructionOf(episode),
    }))
  }

  /**
   * Reads demonstrations, each with the tools of an episode on its task; where that is not known, on the first training
   * task.
   * @throws AgentError for a demonstration in which the assistant does nothing; errors of the environment pass through.
   */
  static async read({
    prime,
    source: { environment, train },
    model: { renderer },
  }: Pick<LearnOptions, 'prime' | 'source' | 'model'>): Promise<Demonstrations> {
    const episodes = prime?.demonstrations ?? []
    const known = new Map<string, readonly ToolDefinition[]>()
    const shown: Shown[] = []
    for (const episode of episodes) {
      const { task = train[0] } = episode
      const tools = task === undefined ? [] : (known.get(task.id) ?? (await toolsOf(environment, task)))
      if (task !== undefined) known.set(task.id, tools)
      shown.push({ episode, tools })
    }
    return new Demonstrations(shown, new Augmenter(episodes, train), renderer)
  }

  /** All of them once, each told of other things with this probability. */
  drawn(augmented: number, random: Rng): readonly Demonstration[] {
    return this.given.map((_, i) => this.told(i, augmented, random))
  }

  /** One of them, told of other things with this probability. */
  told(index: number, augmented: number, random: Rng): Demonstration {
    const { episode, tools } = present(this.#shown[index], `demonstration ${index}`)
    const told = this.augmenter.told(episode, augmented, random)
    return told === null
      ? present(this.given[index], `demonstration ${index}`)
      : demonstration(told, tools, this.#renderer)
  }
}

/** A demonstration, and the tools that were at hand. */
interface Shown {
  readonly episode: DemonstratedEpisode
  readonly tools: readonly ToolDefinition[]
}

/** The tools of an episode on a task. */
export async function toolsOf(environment: Environment, task: Task): Promise<readonly ToolDefinition[]> {
  const episode = await environment.open(task, 0)
  await episode.close()
  return episode.tools
}
