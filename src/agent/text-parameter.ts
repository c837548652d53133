import { type Bound, type Message, notByChance } from '../core/index.ts'
import { currentRecorder, type TextDraft } from './recorder.ts'

/** A learnable text inside an episode. Reading it through {@link message} records that this version decided the message. */
export class TextParameter {
  readonly #name: string
  readonly #binding: Bound<{ readonly text: string }>

  constructor(name: string, binding: Bound<{ readonly text: string }>) {
    this.#name = name
    this.#binding = binding
  }

  /**
   * The text in force, for uses that are not messages: in a template string, as a tool's description. Records a Decision,
   * once an episode. Where the text goes is not known: what is claimed is that every policy call after this one reads it.
   */
  get value(): string {
    currentRecorder().readText(this.#binding.value.text, this.#draft())
    return this.#binding.value.text
  }

  /**
   * The text as a system message; its Decision is recorded when the message, or a copy of it, or a message that quotes it,
   * enters a conversation.
   */
  message(): Message {
    const message: Message = { role: 'system', content: this.#binding.value.text }
    currentRecorder().decidedMessage(message, this.#draft())
    return message
  }

  #draft(): TextDraft {
    return {
      parameter: this.#name,
      kind: 'text',
      inForce: this.#binding.inForce,
      propensity: notByChance,
    }
  }
}
