import type { Bound, Message } from '../core/index.ts'
import { currentRecorder } from './recorder.ts'

/** A learnable text inside an episode. Reading it through {@link message} records that this version decided the message. */
export class TextParameter {
  readonly #name: string
  readonly #binding: Bound<{ readonly text: string }>

  constructor(name: string, binding: Bound<{ readonly text: string }>) {
    this.#name = name
    this.#binding = binding
  }

  /** The text in force, for uses that are not messages; leaves no Decision. */
  get value(): string {
    return this.#binding.value.text
  }

  /** The text as a system message; its Decision is recorded when the message enters a conversation. */
  message(): Message {
    const message: Message = { role: 'system', content: this.#binding.value.text }
    currentRecorder().decidedMessage(message, {
      parameter: this.#name,
      kind: 'text',
      inForce: this.#binding.inForce,
      propensity: { log: null, reason: 'deterministic' },
    })
    return message
  }
}
