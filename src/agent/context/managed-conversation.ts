import {
  type Action,
  type AssistantMessage,
  contextUnder,
  type Message,
  type ToolDefinition,
} from '../../core/index.ts'
import { present } from '../../errors/index.ts'
import type { WeightsBinding } from '../binding.ts'
import { Conversation, type Turn } from '../conversation.ts'
import type { Led } from '../tool-loop.ts'
import type { Context } from './context.ts'
import { featuresOf } from './features.ts'
import { isLess, type KeepOption, keepOptions, type ToolMessage } from './form.ts'
import { readBackName } from './read-back.ts'
import { TextVectors } from '../memory/text-vectors.ts'
import { type Bounds, type Count, emptyView, grown, type PastTurn, shownIn, shrunk, type View } from './view.ts'

/** What a managed conversation is opened with. */
export interface Opening {
  readonly parameter: string
  readonly binding: WeightsBinding
  readonly messages: readonly Message[]
  readonly offered: readonly ToolDefinition[]
  readonly callable: readonly ToolDefinition[]
}

interface Past extends PastTurn {
  readonly turn: Turn
}

/**
 * A conversation whose context is kept within a budget. While it fits, it is one branch that grows. Where it does not, another
 * branch is begun from the opening, which holds the folded view: earlier turns as they were sampled, as context that no loss
 * learns from again, so that each branch's tokens are what was read, and each sampled token is learned from once. In full the
 * results stand on the branch that ends there.
 */
export class ManagedConversation implements Led {
  readonly #context: Context
  readonly #bounds: Bounds
  readonly #count: Count
  readonly #task: string
  readonly #vectors: TextVectors
  /** As it stood after the opening. */
  readonly #opened: Conversation
  readonly #past: Past[] = []
  readonly #results = new Map<string, ToolMessage>()
  #now: Conversation
  #view: View
  #said: Turn | null = null
  #folds = 0

  constructor({ parameter, binding, messages, offered, callable }: Opening, context: Context) {
    this.#context = context
    this.#now = Conversation.open(parameter, binding, messages, offered, callable)
    this.#opened = this.#now.fork()
    this.#bounds = boundsOf(context, binding, this.#now.length)
    this.#view = emptyView(this.#bounds)
    this.#count = (shown, turn) => this.#opened.measure(shown, present(this.#past[turn], 'a turn').turn)
    this.#task = messages.flatMap(({ role, content }) => (role === 'user' ? [content] : [])).join('\n')
    this.#vectors = new TextVectors(context.embedder)
  }

  get length(): number {
    return this.#view.tokens > this.#bounds.most ? Number.POSITIVE_INFINITY : this.#now.length
  }

  /** All tool results so far, in full, by their names. */
  get results(): ReadonlyMap<string, ToolMessage> {
    return this.#results
  }

  /** Characters of a result that take about a quarter of what the opening leaves of the budget. */
  partOf({ content }: ToolMessage): number {
    const [first] = this.#past
    const room = (this.#bounds.most - this.#bounds.opening) / 4
    const tokens = first ? this.#opened.measure([{ role: 'user', content }], first.turn) : 1
    return (content.length * room) / tokens
  }

  from(sources: readonly (string | Message)[]): void {
    this.#now.from(sources)
    this.#opened.from(sources)
  }

  async next(maxTokens: number): Promise<Turn> {
    this.#said = await this.#now.next(maxTokens)
    return this.#said
  }

  acts(action: Action, said: AssistantMessage): void {
    this.#now.acts(action, said)
  }

  end(messages: readonly Message[], step: number): void {
    this.#now.end(messages, step)
  }

  /** Shows messages to the policy; where they do not fit, what came before is folded first. */
  show(messages: readonly Message[], step: number): void | Promise<void> {
    this.#add(messages)
    this.#view = grown(this.#view, this.#past, this.#count)
    if (this.#view.tokens > this.#bounds.most) return this.#fold(messages, step)
    this.#now.show(messages, step)
  }

  #add(shown: readonly Message[]): void {
    const turn = present(this.#said, 'a turn that messages are shown after')
    const results = shown.flatMap((message) => {
      if (message.role !== 'tool') return []
      const id = `r${this.#results.size + 1}`
      this.#results.set(id, message)
      return [id]
    })
    this.#past.push({ turn, said: turn.tokens.length, shown, results })
  }

  async #fold(messages: readonly Message[], step: number): Promise<void> {
    const wanted = await this.#decided()
    this.#view = shrunk(this.#view, this.#past, this.#bounds, this.#count, wanted)
    this.#now.end(messages, step)
    const shown = shownIn(this.#view, this.#past, this.#bounds)
    const next = this.#opened.fork()
    // What is not shown any more led here all the same.
    next.from(this.#past.flatMap(({ turn }, i) => (shown[i] === null ? [turn.message] : [])))
    for (const [i, { turn }] of this.#past.entries()) {
      const after = shown[i]
      if (after) next.repeat(turn, after)
    }
    this.#now = next
  }

  /** What the keep policy says of results of older turns that can be folded further. */
  async #decided(): Promise<ReadonlyMap<string, KeepOption>> {
    const wanted = new Map<string, KeepOption>()
    const { keep } = this.#context
    if (keep === null) return wanted
    this.#folds++
    const older = this.#past.slice(0, Math.max(0, this.#past.length - this.#bounds.keepTurns))
    for (const [i, past] of older.entries()) {
      for (const [k, id] of past.results.entries()) {
        const result = this.#results.get(id)
        if (!result || !isLess('stub', this.#view.forms[i]?.[k] ?? 'whole')) continue
        const features = await featuresOf(this.#kept(i, result), this.#task, this.#vectors)
        const option = await keep.choose(features, { key: `${id}/${this.#folds}` })
        const want = keepOptions.find((form) => form === option)
        if (want) wanted.set(id, want)
      }
    }
    return wanted
  }

  #kept(index: number, result: ToolMessage) {
    const past = this.#past.slice(index)
    const tokens = this.#view.sizes[index] ?? 0
    return { result, tokens, age: past.length - 1, since: past.slice(1).map(({ turn }) => turn.message) }
  }
}

function boundsOf(
  { budget, ...context }: Context,
  { sampler, adapter, budget: spent }: WeightsBinding,
  opening: number,
): Bounds {
  const room = contextUnder(sampler, adapter) - spent.tokensPerTurn
  const most = Math.min(budget ?? room, room)
  return { ...context, opening, most, readBack: context.readBack ? readBackName : null }
}
