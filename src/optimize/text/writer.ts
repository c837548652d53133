import type { ChatModel, ChatQuestion } from '../../core/index.ts'
import { RatchetError } from '../../errors/index.ts'

/** How long a writer may think, in milliseconds. */
const patienceMs = 180_000

/**
 * Asks a model to write. One that has never answered fails the run, with its own error: it is not there. Later failures pass: an
 * answer that does not come, or is cut off, is no candidate.
 */
export class Writer {
  readonly #model: ChatModel
  readonly #maxTokens: number
  #answered: number

  /** @param answered how often it has answered in this run. */
  constructor(model: ChatModel, maxTokens: number, answered = 0) {
    this.#model = model
    this.#maxTokens = maxTokens
    this.#answered = answered
  }

  get answered(): number {
    return this.#answered
  }

  /** @returns its whole answer; `null` for none. */
  async write(question: Pick<ChatQuestion, 'instructions' | 'material'>): Promise<string | null> {
    try {
      const signal = AbortSignal.timeout(patienceMs)
      const { text, whole } = await this.#model.ask({ ...question, maxTokens: this.#maxTokens, signal })
      this.#answered++
      return whole ? text : null
    } catch (error) {
      if (this.#answered === 0 || !RatchetError.is(error)) throw error
      return null
    }
  }
}

/** What stands between the first and the last fence of three backticks; `null` where there is no whole block. */
export function fenced(answer: string): string | null {
  const opening = /```[\w-]*\n/.exec(answer)
  if (opening === null) return null
  const from = opening.index + opening[0].length
  const inside = answer.slice(from, Math.max(from, answer.lastIndexOf('\n```')))
  return inside.trim() === '' ? null : inside
}
