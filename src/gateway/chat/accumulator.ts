import {
  type ArgumentBudget,
  assistantMessageOf,
  type ChatChunk,
  type ChatCompletion,
  type Clock,
  type FinishReason,
  type MalformedCall,
  type Usage,
  type WireToolCall,
  type WireUsage,
  maxJsonValues,
} from '../../core/index.ts'
import type { Answer, AnsweredChoice } from '../ports.ts'
import { chunkOf, weightOfChunk } from './chunks.ts'

type ChunkChoice = ChatChunk['choices'][number]
type Delta = ChunkChoice['delta']

interface DraftCall {
  id: string | undefined
  name: string
  arguments: string
}

/** One answer as far as it has come. */
class Draft {
  readonly index: number
  readonly tokens: number[] = []
  readonly logprobs: number[] = []
  readonly behaviour: number[] = []
  /** Whether the upstream tells tokens, and whether text came without them. */
  tellsTokens = false
  untold = false
  finish: string | null = null
  #closedTurn: boolean | null = null
  readonly #malformed: MalformedCall[] = []
  #content = ''
  #refusal = ''
  #reasoning = ''
  readonly #calls = new Map<number, DraftCall>()

  constructor(index: number) {
    this.index = index
  }

  /** @returns whether the piece holds anything that a model said. */
  add({ delta, finish_reason, token_ids, logprobs, engine }: ChunkChoice): boolean {
    const spoke = this.#say(delta)
    if (token_ids) {
      this.tellsTokens = true
      for (const token of token_ids) this.tokens.push(token)
    } else if (spoke) {
      this.untold = true
    }
    for (const { logprob } of logprobs?.content ?? []) this.logprobs.push(logprob)
    for (const logprob of engine?.behaviour_logprobs ?? []) this.behaviour.push(logprob)
    for (const call of engine?.malformed_calls ?? []) this.#malformed.push(call)
    this.#closedTurn = engine?.closed_turn ?? this.#closedTurn
    if (finish_reason) this.finish = finish_reason
    return spoke || (token_ids?.length ?? 0) > 0
  }

  /** Tokens are known only when all of them are: a part of them would be another sample. */
  get knowsTokens(): boolean {
    return this.tellsTokens && !this.untold
  }

  choice(tokensAreWhole: boolean, budget: ArgumentBudget): AnsweredChoice {
    const tokens = this.knowsTokens && tokensAreWhole ? this.tokens : null
    const along = (values: readonly number[]) =>
      values.length === (tokens ?? this.logprobs).length && values.length > 0 ? [...values] : null
    const said = {
      content: this.#content,
      refusal: this.#refusal,
      reasoning_content: this.#reasoning,
      tool_calls: this.#toolCalls(),
    }
    const message = assistantMessageOf(said, budget)
    const malformedCalls = [...(message.malformedCalls ?? []), ...this.#malformed]
    return {
      index: this.index,
      message: malformedCalls.length === 0 ? message : { ...message, malformedCalls },
      ...(this.#closedTurn === null ? {} : { closedTurn: this.#closedTurn }),
      finish: finishOf(this.finish),
      tokens: tokens === null ? null : [...tokens],
      logprobs: along(this.logprobs),
      behaviourLogprobs: along(this.behaviour),
    }
  }

  #say(delta: Delta): boolean {
    const { content, refusal, tool_calls } = delta
    const reasoning = delta.reasoning_content ?? textIn(delta['reasoning'])
    if (content) this.#content += content
    if (refusal) this.#refusal += refusal
    if (reasoning) this.#reasoning += reasoning
    for (const call of tool_calls ?? []) this.#call(call.index, call.id, call.function)
    const called = legacyCall(delta['function_call'])
    if (called) this.#call(0, undefined, called)
    return !!content || !!refusal || !!reasoning || (tool_calls?.length ?? 0) > 0 || called !== null
  }

  #call(
    index: number,
    id: string | null | undefined,
    called: { readonly name?: string | null | undefined; readonly arguments?: string | null | undefined } | null = {},
  ): void {
    let call = this.#calls.get(index)
    if (!call) this.#calls.set(index, (call = { id: undefined, name: '', arguments: '' }))
    if (id) call.id = id
    if (called?.name) call.name = called.name
    if (called?.arguments) call.arguments += called.arguments
  }

  #toolCalls(): readonly WireToolCall[] {
    return [...this.#calls]
      .toSorted(([a], [b]) => a - b)
      .map(([, { id, name, arguments: text }]) => ({
        ...(id === undefined ? {} : { id }),
        type: 'function',
        function: { name, arguments: text },
      }))
  }
}

const textIn = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** The OpenAI API's `function_call`, which tool calls replaced, and which some servers still speak. */
function legacyCall(value: unknown): { readonly name: string | null; readonly arguments: string | null } | null {
  if (typeof value !== 'object' || value === null) return null
  const { name, arguments: text } = value as { readonly name?: unknown; readonly arguments?: unknown }
  return { name: textIn(name), arguments: textIn(text) }
}

const finishes: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  function_call: 'tool_calls',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_length: 'length',
  safety: 'content_filter',
  refusal: 'content_filter',
}

/** The nearest of the OpenAI API's words: servers have their own for a model that ended its turn. */
export function finishOf(said: string | null): FinishReason {
  if (said === null) return null
  return Object.hasOwn(finishes, said) ? (finishes[said] ?? 'stop') : 'stop'
}

/** Puts an answer together from what an upstream says: a whole completion, or its chunks as they come. */
export class Accumulator {
  readonly #clock: Clock
  readonly #upstream: string
  readonly #choices = new Map<number, Draft>()
  #usage: Usage | null = null
  #model = ''
  #id: string | null = null
  #promptTokens: readonly number[] | null = null
  #firstTokenAt: number | null = null
  #finished = 0
  #weight = 0

  /** @param upstream which one answers. */
  constructor(upstream: string, clock: Clock) {
    this.#upstream = upstream
    this.#clock = clock
  }

  /** Takes in the next piece. */
  add(chunk: ChatChunk): void {
    if (this.#take(chunk)) this.#firstTokenAt ??= this.#clock.now()
  }

  /** Takes in a whole answer. When its first token came is not known. */
  addWhole(completion: ChatCompletion): void {
    this.#take(chunkOf(completion))
  }

  /** When the first token came; `null` before it. */
  get firstTokenAt(): number | null {
    return this.#firstTokenAt
  }

  /** Whether nothing has been said of any answer. */
  get empty(): boolean {
    return this.#choices.size === 0
  }

  /** How many answers said why they ended. */
  get finished(): number {
    return this.#finished
  }

  /** Whether every answer that began said why it ended. */
  get complete(): boolean {
    return this.#finished === this.#choices.size
  }

  /** The answer as far as it has come. */
  answer(): Answer {
    const drafts = [...this.#choices.values()].toSorted((a, b) => a.index - b.index)
    const tokens = drafts.reduce((sum, draft) => sum + draft.tokens.length, 0)
    const tokensAreWhole = !this.complete || this.#usage === null || this.#usage.completionTokens === tokens
    const budget = { values: maxJsonValues }
    return {
      choices: drafts.map((draft) => draft.choice(tokensAreWhole, budget)),
      usage: this.#usage,
      upstream: this.#upstream,
      servedModel: this.#model,
      upstreamId: this.#id,
      promptTokens: this.#promptTokens,
      firstTokenAt: this.#firstTokenAt,
      weight: this.#weight,
    }
  }

  /** @returns whether the piece holds anything that a model said. */
  #take(chunk: ChatChunk): boolean {
    const { id, model, choices, usage, prompt_token_ids } = chunk
    this.#weight += weightOfChunk(chunk)
    if (this.#id === null && id !== '') this.#id = id
    if (this.#model === '') this.#model = model
    if (usage) this.#usage = usageOf(usage)
    if (prompt_token_ids) this.#promptTokens = prompt_token_ids
    let spoke = false
    for (const choice of choices) if (this.#draft(choice.index, choice)) spoke = true
    return spoke
  }

  #draft(index: number, choice: ChunkChoice): boolean {
    let draft = this.#choices.get(index)
    if (!draft) this.#choices.set(index, (draft = new Draft(index)))
    const hadFinished = draft.finish !== null
    const spoke = draft.add(choice)
    if (!hadFinished && draft.finish !== null) this.#finished += 1
    return spoke
  }
}

function usageOf({ prompt_tokens, completion_tokens, prompt_tokens_details }: WireUsage): Usage {
  return {
    promptTokens: prompt_tokens,
    completionTokens: completion_tokens,
    cachedTokens: prompt_tokens_details?.cached_tokens ?? null,
  }
}
