import type { Episode, Message, ToolDefinition } from '../core/index.ts'
import { type BestOf, checkBestOf } from './best-of.ts'
import type { WeightsBinding } from './binding.ts'
import { actInContext } from './context/act-in-context.ts'
import type { Context } from './context/context.ts'
import { Conversation } from './conversation.ts'
import { Dialogue } from './dialogue.ts'
import { Meter } from './meter.ts'
import type { ActOutcome } from './tool-loop.ts'

/** What a call is told beside its messages. */
export interface CallOptions {
  /**
   * What earlier calls said that led to this one although its messages do not quote it: a program computed something from
   * it, or decided by it. What messages quote need not be told.
   */
  readonly from?: readonly (string | Message)[]
  /** At each turn the best of several things that the model could say is said. Default: what it samples. */
  readonly best?: BestOf
}

/** A model with its adapter inside an episode. Everything it says is charged to one budget. */
export class WeightsParameter {
  readonly #name: string
  readonly #binding: WeightsBinding
  readonly #meter: Meter

  constructor(name: string, binding: WeightsBinding) {
    this.#name = name
    this.#binding = binding
    this.#meter = new Meter(binding)
  }

  /**
   * Acts in `episode` until it ends or a budget is spent: call tools, read results, go on.
   * @param options `context`: keeps what is read within a budget, and offers few tools of many. Default: all is read.
   */
  act(
    messages: readonly Message[],
    episode: Episode,
    { context, ...options }: CallOptions & { readonly context?: Context } = {},
  ): Promise<ActOutcome> {
    if (!context) return this.converse(messages, { ...options, tools: episode.tools }).act(episode)
    const acts = { parameter: this.#name, binding: this.#bindingFor(options), meter: this.#meter, episode }
    return actInContext(acts, messages, options.from ?? [], context)
  }

  /**
   * One policy call without tools: what the model says next.
   * @throws EpisodeStopped when a budget is spent or the episode was cancelled.
   */
  async complete(messages: readonly Message[], options: CallOptions = {}): Promise<string> {
    return (await this.converse(messages, options).reply()).content
  }

  /**
   * Opens a conversation that the program leads turn by turn, and that it can fork: two continuations from one prefix.
   * @param options `tools`: what the model is offered; default none.
   */
  converse(
    messages: readonly Message[],
    { from = [], tools = [], ...options }: CallOptions & { readonly tools?: readonly ToolDefinition[] } = {},
  ): Dialogue {
    const conversation = Conversation.open(this.#name, this.#bindingFor(options), messages, tools)
    conversation.from(from)
    return new Dialogue(conversation, this.#meter)
  }

  #bindingFor({ best }: CallOptions): WeightsBinding {
    if (!best) return this.#binding
    checkBestOf(best)
    return { ...this.#binding, best }
  }
}
