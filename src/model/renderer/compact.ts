import type { AssistantMessage, Message, Renderer, ToolDefinition, TurnReader } from '../../core/index.ts'
import type { Tokenizer } from '../embedded/load/tokenizer.ts'
import { commandLine } from './command-line.ts'
import { turn, untilTheEnd } from './dialect.ts'
import { TextBefore } from './text-before.ts'

/**
 * The compact form: a conversation as a terminal session. The policy writes one line after each `>`, in the
 * {@link commandLine} dialect; what tools return is shown a line at a time, each after a space.
 *
 *     Which version of edge supports MLGraphBuilder.relu?
 *     > search MLGraphBuilder.relu
 *      MLGraphBuilder.elu
 *      MLGraphBuilder.relu
 *     > open MLGraphBuilder.relu
 *      chrome 112
 *      edge 112
 *     > answer edge 112
 *
 * Only the policy's lines start with `>`: no text from outside can look like one. The prompt ends at `>` and a turn
 * starts with the space, because byte-level vocabularies hold words with the space before them (` search` is one token
 * where `search` is two), and because a name then has the same tokens in the question, in a result, and in a command.
 * Each turn is encoded on its own, so that demonstrations hold the tokens a policy would sample. Tool definitions are
 * not shown: the form is learned from demonstrations. Calls cannot be forced: a line's values are text or JSON as they come,
 * and no grammar says that.
 */
export class CompactRenderer implements Renderer {
  readonly name = 'compact'
  readonly stop: Renderer['stop']
  readonly #tokenizer: Tokenizer

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
    this.stop = { strings: [], tokens: tokenizer.idsContaining('\n') }
  }

  start(messages: readonly Message[], tools: readonly ToolDefinition[]): readonly number[] {
    return this.#show(messages, tools)
  }

  extend(next: readonly Message[], sampledStop: boolean): readonly number[] {
    return sampledStop ? this.#show(next) : [...this.#tokenizer.encode('\n'), ...this.#show(next)]
  }

  parse(tokens: readonly number[], tools: readonly ToolDefinition[]): AssistantMessage {
    return this.#parse(tokens, this.decode(tokens), tools)
  }

  /** A special token makes the whole line malformed, so that nothing is certain before its end. */
  read(tools: readonly ToolDefinition[], stop: readonly string[]): TurnReader {
    const all: number[] = []
    return {
      push: (tokens) => {
        all.push(...tokens)
        return untilTheEnd.push('')
      },
      end: () => {
        const before = new TextBefore(stop)
        return this.#parse(all, before.push(this.decode(all)) + before.end(), tools)
      },
    }
  }

  #parse(tokens: readonly number[], text: string, tools: readonly ToolDefinition[]): AssistantMessage {
    const special = [...this.#tokenizer.specialTokens].find(([, id]) => tokens.includes(id))
    if (special === undefined) return commandLine.read(text, tools)
    return turn('', [], [{ text, problem: `The line holds the special token ${special[0]}.` }])
  }

  /** @param tools decide how a call of a tool with several parameters is written; unknown tools' single argument has no key. */
  renderAssistant(message: AssistantMessage, tools: readonly ToolDefinition[]): readonly number[] {
    return this.#tokenizer.encode(commandLine.write(message, tools))
  }

  decode(tokens: readonly number[]): string {
    return this.#tokenizer.decode(tokens)
  }

  bytes(token: number): Uint8Array {
    return this.#tokenizer.bytes(token)
  }

  /** The messages, and the prompt after them. Text between two turns of the policy is encoded in one piece. */
  #show(messages: readonly Message[], tools: readonly ToolDefinition[] = []): number[] {
    const tokens: number[] = []
    let pending = ''
    for (const message of messages) {
      if (message.role === 'assistant') {
        tokens.push(...this.#tokenizer.encode(`${pending}>`), ...this.renderAssistant(message, tools))
        pending = ''
      } else pending += outsideText(message)
    }
    return [...tokens, ...this.#tokenizer.encode(`${pending}>`)]
  }
}

/** Lines of a message that the policy did not write. Tools' lines are indented; others only where they could mislead. */
function outsideText({ role, content }: Message): string {
  const lines = content.split(lineEnds).map((line) => line.replace(controlCharacters, '\uFFFD'))
  while (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines.map((line) => `${role === 'tool' || /^[> ]/.test(line) ? ' ' : ''}${line}\n`).join('')
}

/** Everything that some reader takes for the end of a line. */
const lineEnds = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/

/** Control characters, the tab excepted. */
const controlCharacters = /(?!\t)\p{Cc}/gu
