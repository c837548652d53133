import { demonstration } from '../../../agent/index.ts'
import {
  calledTools,
  type DemonstratedEpisode,
  type Demonstration,
  type Environment,
  isRefusal,
  type LearnableTask,
  Message,
  type ModelService,
  type Rng,
  sha256,
  type Task,
  type ToolDefinition,
} from '../../../core/index.ts'
import { InputError, present, RatchetError } from '../../../errors/index.ts'
import { LearnError } from '../../errors.ts'
import type { RolloutOptions } from '../../options.ts'
import { Augmenter, instructionOf } from '../../augment/index.ts'
import { knownTasks } from '../../preflight/index.ts'

/** A demonstration as the model reads it, with what was asked in it and the tools that it uses. */
export interface RenderedDemonstration extends Demonstration {
  readonly instruction: string
  readonly tools: readonly string[]
  /** What the assistant says and does, those acts included that are not imitated. */
  readonly turns: number
  /** Calls that a tool answered with an error, as far as the messages say so. */
  readonly refused: number
}

/** Demonstrations to imitate: as they were given, and told of other things. */
export class Demonstrations {
  /** As they were given, in their order. */
  readonly given: readonly RenderedDemonstration[]
  /** Tells them of other things. */
  readonly augmenter: Augmenter
  readonly #shown: readonly Shown[]
  readonly #train: readonly LearnableTask[]
  readonly #model: ModelService | null

  private constructor(
    shown: readonly Shown[],
    given: readonly RenderedDemonstration[],
    train: readonly LearnableTask[],
    model: ModelService | null,
  ) {
    this.#shown = shown
    this.given = given
    this.augmenter = new Augmenter(
      shown.map(({ episode }) => episode),
      train,
      shown.flatMap(({ tools }) => tools),
    )
    this.#train = train
    this.#model = model
  }

  /**
   * Reads demonstrations, each with the tools of an episode on its task: the one that it names, else the training task of
   * which it says the very instruction, else the first.
   * @param model of the weights that imitate them; `null` where none do, and there are none.
   * @throws LearnError for a demonstration whose messages are none (`learn/bad-demonstration`), or that does not fit the
   * model's context (`learn/long-demonstration`); InputError for one in which the assistant does nothing, or what the
   * model's form cannot express; errors of the environment pass through.
   */
  static async read(
    { prime, source: { environment, train } }: Pick<RolloutOptions, 'prime' | 'source'>,
    model: ModelService | null,
  ): Promise<Demonstrations> {
    const episodes = prime?.demonstrations ?? []
    refuseMisshapen(episodes)
    const known = new Map<string, readonly ToolDefinition[]>()
    const tasksOf = knownTasks(train)
    const shown: Shown[] = []
    for (const episode of episodes) {
      const task = episode.task ?? tasksOf(episode).find(({ certain }) => certain)?.task ?? train[0]
      const tools = task === undefined ? [] : (known.get(task.id) ?? (await toolsOf(environment, task)))
      if (task !== undefined) known.set(task.id, tools)
      shown.push({ episode, tools })
    }
    const given = model ? fitting(shown, model) : []
    return new Demonstrations(shown, given, train, model)
  }

  /** The hashes of what these say, by their place from 0. */
  hashesOf(places: readonly number[]): readonly string[] {
    return places.map((place) => hashOf(present(this.#shown[place], `demonstration ${place}`)))
  }

  /** All but these, by the hash of what they say. */
  without(hashes: readonly string[]): Demonstrations {
    if (hashes.length === 0) return this
    const left = new Set(hashes)
    const stay = this.#shown.map((one) => !left.has(hashOf(one)))
    const stays = (_: unknown, i: number) => stay[i] === true
    return new Demonstrations(this.#shown.filter(stays), this.given.filter(stays), this.#train, this.#model)
  }

  /** The tools that were at hand in each, in their order. */
  get tools(): readonly (readonly ToolDefinition[])[] {
    return this.#shown.map(({ tools }) => tools)
  }

  /** All of them once, each told of other things with this probability. */
  drawn(augmented: number, random: Rng): readonly Demonstration[] {
    return this.given.map((_, i) => this.told(i, augmented, random))
  }

  /** One of them, told of other things with this probability, where that still fits the model's context. */
  told(index: number, augmented: number, random: Rng): Demonstration {
    const { episode, tools } = present(this.#shown[index], `demonstration ${index}`)
    const given = present(this.given[index], `demonstration ${index}`)
    const messages = this.augmenter.told(episode, augmented, random)
    if (messages === null) return given
    const { renderer, sampler } = present(this.#model, 'the model that imitates')
    const told = demonstration(messages, tools, renderer, episode.mistakes)
    return told.tokens.length > sampler.capabilities.contextLength ? given : told
  }
}

const hashOf = ({ episode }: Shown): string => sha256(JSON.stringify(episode.messages))

/** Characters of a message that are read for each token of the context, to see whether it fits: no megabyte is read. */
const charactersPerToken = 8

/** A demonstration as the model reads it; `null` where it does not fit the model's context. */
function rendered({ episode, tools }: Shown, { renderer, sampler }: ModelService): RenderedDemonstration | null {
  const { contextLength } = sampler.capabilities
  const most = contextLength * charactersPerToken
  const read = (messages: readonly Message[]) => {
    const one = demonstration(messages, tools, renderer, episode.mistakes)
    if (one.tokens.length > contextLength) return null
    const { messages: all } = episode
    const count = (is: (message: Message) => boolean) => all.filter(is).length
    return {
      ...one,
      instruction: instructionOf(episode),
      tools: calledTools(all),
      turns: count(({ role }) => role === 'assistant'),
      refused: count(isRefusal),
    }
  }
  const cut = episode.messages.map((one): Message => ({ ...one, content: one.content.slice(0, most) }))
  const whole = episode.messages.every(({ content }) => content.length <= most)
  return whole || read(cut) !== null ? read(episode.messages) : null
}

/**
 * Demonstrations as the model reads them.
 * @throws LearnError where any does not fit the model's context.
 * @throws InputError that names the first that cannot be read so.
 */
function fitting(shown: readonly Shown[], model: ModelService): readonly RenderedDemonstration[] {
  const given = shown.map((one, i) => {
    try {
      return rendered(one, model)
    } catch (error) {
      if (!RatchetError.is(error)) throw error
      const { code, message, hint } = error
      throw new InputError({ code, message: `Demonstration ${i + 1}: ${message}`, hint, cause: error })
    }
  })
  const long = given.flatMap((one, i) => (one === null ? [i + 1] : []))
  const [first] = long
  if (first === undefined) return given.filter((one) => one !== null)
  throw new LearnError({
    code: 'learn/long-demonstration',
    message: `${long.length} of ${given.length} demonstrations do not fit the model's context of ${model.sampler.capabilities.contextLength} tokens. The first is demonstration ${first}.`,
    hint: 'Leave them out, let the environment cut what it returns, or take a model that reads more.',
  })
}

/**
 * A program in JavaScript may hand over what it recorded: of another form's messages nothing would be learned, in silence.
 * @throws LearnError `learn/bad-demonstration`
 */
function refuseMisshapen(episodes: readonly DemonstratedEpisode[]): void {
  for (const [i, { messages }] of episodes.entries()) {
    const checked = Message.array().safeParse(messages)
    if (checked.success) continue
    const {
      path: [at, ...path],
      message,
    } = present(checked.error.issues[0], 'what is wrong')
    const where = typeof at === 'number' ? `, message ${at + 1}` : ''
    throw new LearnError({
      code: 'learn/bad-demonstration',
      message: `Demonstration ${i + 1}${where}: ${[...path.map(String), message].join(': ')}.`,
      hint: 'Make it of what was recorded with demonstrationFrom(…) of ratchet-agents/core, which reads messages of the OpenAI API too.',
    })
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
