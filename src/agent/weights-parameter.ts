import type { Episode, Message } from '../core/index.ts'
import { Conversation } from './conversation.ts'
import type { WeightsBinding } from './binding.ts'
import { type ActOutcome, toolLoop } from './tool-loop.ts'

/** A model with its adapter inside an episode. */
export class WeightsParameter {
  readonly #name: string
  readonly #binding: WeightsBinding

  constructor(name: string, binding: WeightsBinding) {
    this.#name = name
    this.#binding = binding
  }

  /** Acts in `episode` until it ends or a budget is spent: call tools, read results, go on. */
  act(messages: readonly Message[], episode: Episode): Promise<ActOutcome> {
    return toolLoop(this.#name, this.#binding, messages, episode)
  }

  /** One policy call without tools: what the model says next. */
  async complete(messages: readonly Message[]): Promise<string> {
    const conversation = new Conversation(this.#name, this.#binding, messages, [])
    return (await conversation.next()).message.content
  }
}
