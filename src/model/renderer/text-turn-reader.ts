import type { AssistantMessage, ToolDefinition, TurnDelta, TurnReader } from '../../core/index.ts'
import type { Dialect, DialectReader } from './dialect.ts'
import { TextBefore } from './text-before.ts'

/** What a turn is read with. */
export interface TextTurnSetup {
  readonly dialect: Dialect
  readonly tools: readonly ToolDefinition[]
  /** The text ends before the first of these. */
  readonly stop: readonly string[]
  /** As the turn's last token, one of these is no part of its text. */
  readonly stopTokens: readonly number[]
  bytes(token: number): Uint8Array
}

/** Reads a turn whose tokens are bytes of text in some dialect. A character is told when its last byte has come. */
export class TextTurnReader implements TurnReader {
  readonly #setup: TextTurnSetup
  readonly #utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #before: TextBefore
  readonly #dialect: DialectReader
  #text = ''
  /** A stop token after which nothing has come yet. */
  #stopped: number | null = null

  constructor(setup: TextTurnSetup) {
    this.#setup = setup
    this.#before = new TextBefore(setup.stop)
    this.#dialect = setup.dialect.reader(setup.tools)
  }

  push(tokens: readonly number[]): TurnDelta {
    let text = ''
    for (const token of tokens) {
      if (this.#stopped !== null) text += this.#decode(this.#stopped)
      this.#stopped = this.#setup.stopTokens.includes(token) ? token : null
      if (this.#stopped === null) text += this.#decode(token)
    }
    const sure = this.#before.push(text)
    this.#text += sure
    return this.#dialect.push(sure)
  }

  end(): AssistantMessage {
    const rest = this.#before.push(this.#utf8.decode()) + this.#before.end()
    return this.#setup.dialect.read(this.#text + rest, this.#setup.tools)
  }

  #decode(token: number): string {
    return this.#utf8.decode(this.#setup.bytes(token), { stream: true })
  }
}
