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
import type { LearnOptions } from './options.ts'
import { instructionOf, type Names, namesIn, renamed } from './renamed.ts'

/** A demonstration as the model reads it, with what was asked in it. */
export interface RenderedDemonstration extends Demonstration {
  readonly instruction: string
}

/** Demonstrations to imitate: as they were given, and told of other things. */
export class Demonstrations {
  /** As they were given, in their order. */
  readonly given: readonly RenderedDemonstration[]
  readonly #episodes: readonly DemonstratedEpisode[]
  readonly #tools: readonly (readonly ToolDefinition[])[]
  readonly #names: Names
  readonly #renderer: Renderer

  private constructor(parts: {
    episodes: readonly DemonstratedEpisode[]
    tools: readonly (readonly ToolDefinition[])[]
    names: Names
    renderer: Renderer
  }) {
    this.#episodes = parts.episodes
    this.#tools = parts.tools
    this.#names = parts.names
    this.#renderer = parts.renderer
    this.given = parts.episodes.map((one, i) => ({
      ...this.#rendered(one, i),
      instruction: instructionOf(one),
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
    const tools: (readonly ToolDefinition[])[] = []
    for (const { task = train[0] } of episodes) {
      const ofTask = task === undefined ? [] : (known.get(task.id) ?? (await toolsOf(environment, task)))
      if (task !== undefined) known.set(task.id, ofTask)
      tools.push(ofTask)
    }
    return new Demonstrations({ episodes, tools, names: namesIn(episodes, train), renderer })
  }

  /** Names that demonstrations can be told of. */
  get names(): number {
    return this.#names.pool.length
  }

  /** All of them once, each told of other things with this probability. */
  drawn(share: number, random: Rng): readonly Demonstration[] {
    return this.given.map((one, i) => {
      const names = this.#names.inEach[i] ?? []
      const episode = this.#episodes[i]
      const other = random.next() < share && names.length > 0 && this.names >= fewestNames && episode !== undefined
      return other ? this.#rendered(renamed(episode, names, this.#names.pool, random), i) : one
    })
  }

  #rendered({ messages }: DemonstratedEpisode, i: number): Demonstration {
    return demonstration(messages, this.#tools[i] ?? [], this.#renderer)
  }
}

/** Fewer names to choose from would be learned by heart. */
const fewestNames = 8

/** The tools of an episode on a task. */
export async function toolsOf(environment: Environment, task: Task): Promise<readonly ToolDefinition[]> {
  const episode = await environment.open(task, 0)
  await episode.close()
  return episode.tools
}
