import type { ToolCall, ToolDefinition, TurnDelta } from '../../core/index.ts'
import type { DialectReader } from './dialect.ts'
import { closing, opening, parseJson, readBlock } from './hermes-call.ts'
import { heldBack } from './text-before.ts'

/**
 * Reads a turn in the Hermes dialect as it comes. Text is certain up to where a call may begin; a call is certain once
 * a closing tag leaves JSON before it. What is malformed is certain only at the end, and told by nobody before.
 */
export class HermesReader implements DialectReader {
  readonly #tools: readonly ToolDefinition[]
  /** What may become the beginning of a call. */
  #held = ''
  /** From the first call on: what is not read yet. */
  #rest: string | null = null
  /** Characters of it in which no end was found. */
  #searched = 0

  constructor(tools: readonly ToolDefinition[]) {
    this.#tools = tools
  }

  push(text: string): TurnDelta {
    if (this.#rest !== null) return { content: '', toolCalls: this.#calls(this.#rest + text) }
    const seen = this.#held + text
    const start = seen.indexOf(opening)
    if (start >= 0) {
      // The newline before the first call is part of the form.
      return { content: seen.slice(0, start).replace(/\n$/, ''), toolCalls: this.#calls(seen.slice(start)) }
    }
    const sure = seen.length - Math.max(heldBack(seen, opening), heldBack(seen, `\n${opening}`))
    this.#held = seen.slice(sure)
    return { content: seen.slice(0, sure), toolCalls: [] }
  }

  #calls(text: string): readonly ToolCall[] {
    const calls: ToolCall[] = []
    this.#rest = text.trimStart()
    for (let length = this.#block(this.#rest); length !== null; length = this.#block(this.#rest)) {
      const read = readBlock(this.#rest.slice(0, length), this.#tools)
      if (!('problem' in read)) calls.push(read)
      this.#rest = this.#rest.slice(length).trimStart()
      this.#searched = 0
    }
    return calls
  }

  /** How long the first block is, where nothing that follows can change it. */
  #block(rest: string): number | null {
    const from = Math.max(0, this.#searched - closing.length)
    this.#searched = rest.length
    if (!rest.startsWith(opening)) {
      const next = rest.indexOf(opening, from)
      return next < 0 ? null : next
    }
    for (let end = rest.indexOf(closing, from); end >= 0; end = rest.indexOf(closing, end + 1)) {
      if (parseJson(rest.slice(opening.length, end)) !== undefined) return end + closing.length
    }
    return null
  }
}
