import type { Episode, Message } from '../core/index.ts'
import type { WeightsBinding } from './binding.ts'
import { Conversation } from './conversation.ts'
import { EpisodeStopped } from './errors.ts'
import { Meter } from './meter.ts'
import { type ActOutcome, toolLoop } from './tool-loop.ts'

/** What a call is told beside its messages. */
export interface CallOptions {
  /**
   * What earlier calls said that led to this one although its messages do not quote it: a program computed something from
   * it, or decided by it. What messages quote need not be told.
   */
  readonly from?: readonly (string | Message)[]
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

  /** Acts in `episode` until it ends or a budget is spent: call tools, read results, go on. */
  act(messages: readonly Message[], episode: Episode, { from = [] }: CallOptions = {}): Promise<ActOutcome> {
    const conversation = new Conversation(this.#name, this.#binding, messages, episode.tools)
    conversation.from(from)
    return toolLoop(conversation, this.#meter, episode)
  }

  /**
   * One policy call without tools: what the model says next.
   * @throws EpisodeStopped when a budget is spent or the episode was cancelled.
   */
  async complete(messages: readonly Message[], { from = [] }: CallOptions = {}): Promise<string> {
    const conversation = new Conversation(this.#name, this.#binding, messages, [])
    conversation.from(from)
    const stop = this.#meter.stop(conversation.length)
    if (stop) throw new EpisodeStopped(stop)
    const said = await conversation.next(this.#meter.room)
    this.#meter.spend(said.tokens)
    if (said.stopReason === 'cancelled') throw new EpisodeStopped('cancelled')
    return said.message.content
  }
}
