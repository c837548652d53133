import type { AssistantMessage, Episode, Message } from '../core/index.ts'
import type { Conversation } from './conversation.ts'
import { AgentError, EpisodeStopped } from './errors.ts'
import type { Meter } from './meter.ts'
import { type ActOutcome, toolLoop } from './tool-loop.ts'

/** A conversation that a program leads turn by turn, and can go on from in several ways. */
export class Dialogue {
  readonly #conversation: Conversation
  readonly #meter: Meter

  constructor(conversation: Conversation, meter: Meter) {
    this.#conversation = conversation
    this.#meter = meter
  }

  /**
   * Another conversation that goes on from here. Both have the same beginning, as the same messages and tokens; asked the
   * same, they give answers of their own.
   */
  fork(): Dialogue {
    return new Dialogue(this.#conversation.fork(), this.#meter)
  }

  /**
   * Shows messages to the model, and gives back what it says next.
   * @throws EpisodeStopped when a budget is spent or the episode was cancelled.
   * @throws AgentError for messages before the model has said anything: these belong to the opening.
   */
  async reply(messages: readonly Message[] = []): Promise<AssistantMessage> {
    this.#show(messages)
    const stop = this.#meter.stop(this.#conversation.length)
    if (stop) throw new EpisodeStopped(stop)
    const said = await this.#conversation.next(this.#meter.room)
    this.#meter.spend(said.tokens.length)
    if (said.stopReason === 'cancelled') throw new EpisodeStopped('cancelled')
    return said.message
  }

  /**
   * Shows messages to the model and lets it act in `episode` until that ends or a budget is spent. The conversation must
   * have been opened with the episode's tools.
   */
  act(episode: Episode, messages: readonly Message[] = []): Promise<ActOutcome> {
    this.#show(messages)
    return toolLoop(this.#conversation, this.#meter, episode)
  }

  #show(messages: readonly Message[]): void {
    const { lastStep } = this.#conversation
    if (lastStep !== null) {
      this.#conversation.show(messages, lastStep)
      return
    }
    if (messages.length === 0) return
    throw new AgentError({
      code: 'agent/nothing-said-yet',
      message: 'Messages were added to a conversation in which the model has not spoken yet.',
      hint: 'Give them to converse, with the opening; or let the model reply first.',
    })
  }
}
