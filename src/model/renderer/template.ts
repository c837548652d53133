import { Template } from '@huggingface/jinja'
import type {
  AssistantMessage,
  Grammar,
  Json,
  Message,
  Renderer,
  ToolCall,
  ToolDefinition,
  TurnReader,
} from '../../core/index.ts'
import type { LoadedModel } from '../embedded/load/loaded-model.ts'
import type { Tokenizer } from '../embedded/load/tokenizer.ts'
import type { Dialect } from './dialect.ts'
import { hermes } from './hermes.ts'
import { TextTurnReader } from './text-turn-reader.ts'
import { UnusableTemplateError } from './unusable-template-error.ts'

/**
 * The model's own chat template. Turns are appended, never rendered again: what a template adds for new messages is
 * found by rendering them after a stand-in conversation and keeping what comes after it. Spellings of special tokens in
 * messages and tool definitions stay ordinary text: no content can end a turn.
 */
export class TemplateRenderer implements Renderer {
  readonly name = 'template'
  readonly stop: Renderer['stop']
  readonly #tokenizer: Tokenizer
  readonly #template: Template
  readonly #variables: Readonly<Record<string, string>>
  readonly #dialect: Dialect
  /** Whether the template writes calls in the dialect: others know another form, or none. Found out when calls are forced. */
  #showsCalls: boolean | undefined

  /** @throws UnusableTemplateError when the model ships no template, or one that cannot be parsed or appended to. */
  constructor({ tokenizer, chatTemplate, stopTokens }: Omit<LoadedModel, 'weights'>, dialect: Dialect = hermes) {
    if (chatTemplate === null) throw new UnusableTemplateError('the model ships none.')
    this.#tokenizer = tokenizer
    this.#template = parseTemplate(chatTemplate.source)
    this.#variables = chatTemplate.variables
    this.#dialect = dialect
    this.stop = { strings: [], tokens: stopTokens }
    this.extend([{ role: 'user', content: 'probe' }], true)
  }

  start(messages: readonly Message[], tools: readonly ToolDefinition[]): readonly number[] {
    return this.#tokenizer.encodeWithSpecials(this.#render(messages, tools, true))
  }

  extend(next: readonly Message[], sampledStop: boolean): readonly number[] {
    const earlier = [question, answerBefore(next)]
    const before = this.#render(earlier, [], false)
    const added = appended(before, this.#render([...earlier, ...next], [], true))
    const stop = this.#lastStop(before)
    const unread = before.slice(sampledStop ? stop.end : stop.begin)
    return this.#tokenizer.encodeWithSpecials(unread + added)
  }

  parse(tokens: readonly number[], tools: readonly ToolDefinition[]): AssistantMessage {
    const last = tokens.at(-1)
    const stopped = last !== undefined && this.stop.tokens.includes(last)
    return this.#dialect.read(this.decode(stopped ? tokens.slice(0, -1) : tokens), tools)
  }

  read(tools: readonly ToolDefinition[], stop: readonly string[]): TurnReader {
    const bytes = (token: number) => this.bytes(token)
    return new TextTurnReader({ dialect: this.#dialect, tools, stop, stopTokens: this.stop.tokens, bytes })
  }

  forcedCalls(tools: readonly ToolDefinition[], several: boolean): Grammar | null {
    this.#showsCalls ??= this.#readsBack({ name: 'probe', arguments: { a: 'b' } })
    return this.#showsCalls ? (this.#dialect.forcedCalls?.(tools, several) ?? null) : null
  }

  renderAssistant(message: AssistantMessage, _tools: readonly ToolDefinition[]): readonly number[] {
    const prompt = this.#render([question], [], true)
    const added = appended(prompt, this.#render([question, message], [], false))
    // What the prompt ends with is ordinary text.
    return this.#tokenizer.encodeWithSpecials(added.slice(0, this.#lastStop(added).end), true)
  }

  decode(tokens: readonly number[]): string {
    return this.#tokenizer.decode(tokens)
  }

  bytes(token: number): Uint8Array {
    return this.#tokenizer.bytes(token)
  }

  #readsBack(call: ToolCall): boolean {
    const tools = [{ name: call.name, description: '', parameters: {} }]
    try {
      const { toolCalls = [] } = this.parse(
        this.renderAssistant({ role: 'assistant', content: '', toolCalls: [call] }, tools),
        tools,
      )
      return JSON.stringify(toolCalls) === JSON.stringify([call])
    } catch (error) {
      if (error instanceof UnusableTemplateError) return false
      throw error
    }
  }

  #render(messages: readonly Message[], tools: readonly ToolDefinition[], prompt: boolean): string {
    try {
      return this.#template.render({
        ...this.#variables,
        messages: this.#escape(messages.map(toTemplateMessage)),
        ...(tools.length > 0 ? { tools: this.#escape(tools.map(toTemplateTool)) } : {}),
        add_generation_prompt: prompt,
      })
    } catch (cause) {
      throw new UnusableTemplateError(`it fails on this conversation (${String(cause)}).`, cause)
    }
  }

  /** Escapes special tokens' spellings in every string of a value, keys included. */
  #escape(value: Json): Json {
    if (typeof value === 'string') return this.#tokenizer.escapeSpecials(value)
    if (Array.isArray(value)) return value.map((item: Json) => this.#escape(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.#tokenizer.escapeSpecials(key), this.#escape(item)]),
    )
  }

  /** Where the last stop token of a rendered text is spelled. */
  #lastStop(text: string): { begin: number; end: number } {
    const spellings = [...this.#tokenizer.specialTokens].filter(([, id]) => this.stop.tokens.includes(id))
    const places = spellings.map(([spelling]) => {
      const begin = text.lastIndexOf(spelling)
      return { begin, end: begin + spelling.length }
    })
    const last = places.reduce((a, b) => (b.begin > a.begin ? b : a), { begin: -1, end: -1 })
    if (last.begin < 0) throw new UnusableTemplateError('it does not end an assistant turn with a stop token.')
    return last
  }
}

const question: Message = { role: 'user', content: 'question' }

/** What the assistant can have said before `next`: a call, when a tool answers. */
function answerBefore([next]: readonly Message[]): Message {
  if (next?.role !== 'tool') return { role: 'assistant', content: 'answer' }
  const id = next.toolCallId === undefined ? {} : { id: next.toolCallId }
  return { role: 'assistant', content: '', toolCalls: [{ ...id, name: next.name, arguments: {} }] }
}

/** What `after` adds to `before`. */
function appended(before: string, after: string): string {
  if (after.startsWith(before)) return after.slice(before.length)
  throw new UnusableTemplateError('it changes what it rendered earlier once a message is added.')
}

function parseTemplate(source: string): Template {
  try {
    return new Template(source)
  } catch (cause) {
    throw new UnusableTemplateError(`it is not valid Jinja (${String(cause)}).`, cause)
  }
}

/** A message in the form that transformers hands to templates. Malformed calls are shown as they were sampled. */
function toTemplateMessage(message: Message): Json {
  if (message.role === 'tool') {
    const { role, name, content, toolCallId } = message
    return { role, name, content, ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }) }
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.content }
  const { role, content, toolCalls = [], malformedCalls = [] } = message
  const said = [content, ...malformedCalls.map(({ text }) => text)].filter((text) => text !== '').join('\n')
  const calls = toolCalls.map(({ id, name, arguments: values }) => ({
    type: 'function',
    ...(id === undefined ? {} : { id }),
    function: { name, arguments: values },
  }))
  return { role, content: said, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
}

function toTemplateTool({ name, description, parameters }: ToolDefinition): Json {
  return { type: 'function', function: { name, description, parameters } }
}
