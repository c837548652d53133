import type { ChatChunk, ChatCompletion, ChatRequest, ServedBy, WireUsage } from '../../../core/index.ts'
import type { Problem } from '../../http/problem.ts'
import { alikeProblem } from './alike-problem.ts'
import { ChoiceTeller, alikeFinish, alikeLegacyCall, alikeLogprobs } from './choice-teller.ts'
import { countedUsage, plainUsage } from './counted.ts'

/**
 * What of an answer a client is told, and how. Of an agent that has releases it is what a list of fields lets through, in
 * pieces that depend on the words alone: so nothing beside the answer tells which arm of a canary gave it, and nobody can
 * vote by the arm.
 */
export interface Alike {
  /** What is recorded and told both: the client sends ids of calls back. */
  readonly taken: { whole(completion: ChatCompletion): ChatCompletion; chunk(chunk: ChatChunk): ChatChunk }
  whole(completion: ChatCompletion): ChatCompletion
  /** What a stream says of itself before its first words. */
  opening(first: ChatChunk): ChatChunk
  chunks(chunk: ChatChunk): readonly ChatChunk[]
  /** What was held back, of an answer that ends as it is. */
  flush(): readonly ChatChunk[]
  /** After the last chunk. */
  rest(): readonly ChatChunk[]
  problem(error: unknown, problem: Problem): Problem
}

const itself = <T>(value: T) => value

/** Of agents without releases everything goes on as it came. */
export const asTold: Alike = {
  taken: { whole: itself, chunk: itself },
  whole: itself,
  opening: itself,
  chunks: (chunk) => [chunk],
  flush: () => [],
  rest: () => [],
  problem: (_, problem) => problem,
}

export interface AlikeOptions {
  /** What serves the session. */
  readonly served: ServedBy
  /** As the client sent it. */
  readonly request: ChatRequest
  /** Of the call: ids of tool calls are made of it. */
  readonly call: string
  /** Seconds since the epoch. */
  readonly created: number
}

/** What a client of an agent with releases is told. */
export function alikeTo(options: AlikeOptions): Alike {
  return new AlikeAnswer(options)
}

type Choice = ChatCompletion['choices'][number]

class AlikeAnswer implements Alike {
  readonly #options: AlikeOptions
  readonly #tellers = new Map<number, ChoiceTeller>()
  #usage: WireUsage | null = null

  constructor(options: AlikeOptions) {
    this.#options = options
  }

  get taken(): Alike['taken'] {
    return { whole: (completion) => this.#withOwnIds(completion), chunk: (chunk) => this.#chunkWithOwnIds(chunk) }
  }

  whole({ choices, usage = null }: ChatCompletion): ChatCompletion {
    const told = this.#usageOf(usage, bytesOf(choices))
    return {
      ...this.#head('chat.completion'),
      choices: choices.map((choice) => wholeChoice(choice)),
      ...(told ? { usage: told } : {}),
    }
  }

  opening(): ChatChunk {
    return { ...this.#head('chat.completion.chunk'), choices: [] }
  }

  chunks({ choices, usage }: ChatChunk): readonly ChatChunk[] {
    if (usage) this.#usage = usage
    return choices.flatMap((choice) =>
      this.#teller(choice.index)
        .take(choice)
        .map((told) => this.#chunk(told)),
    )
  }

  flush(): readonly ChatChunk[] {
    return [...this.#tellers.values()].flatMap((teller) => teller.flush().map((told) => this.#chunk(told)))
  }

  rest(): readonly ChatChunk[] {
    const bytes = [...this.#tellers.values()].reduce((sum, teller) => sum + teller.bytes, 0)
    const usage = this.#usageOf(this.#usage, bytes)
    return [...this.flush(), ...(usage ? [{ ...this.opening(), usage }] : [])]
  }

  problem(error: unknown, problem: Problem): Problem {
    return alikeProblem(error, problem, this.#options.request)
  }

  #usageOf(usage: WireUsage | null, bytes: number): WireUsage | null {
    const { served, request } = this.#options
    if (served.canary !== null) return countedUsage(request, bytes)
    return usage && plainUsage(usage)
  }

  #head<T extends ChatChunk['object'] | ChatCompletion['object']>(object: T) {
    const { request, created } = this.#options
    return { id: '', object, created, model: request.model }
  }

  #chunk(choice: ChatChunk['choices'][number]): ChatChunk {
    return { ...this.opening(), choices: [choice] }
  }

  #teller(index: number): ChoiceTeller {
    let teller = this.#tellers.get(index)
    if (!teller) this.#tellers.set(index, (teller = new ChoiceTeller(index, (call) => this.#callId(index, call))))
    return teller
  }

  /** Upstreams have ids of calls each in their own style. */
  #callId(choice: number, call: number): string {
    return `call_${this.#options.call.slice(2)}_${choice}_${call}`
  }

  #withOwnIds(completion: ChatCompletion): ChatCompletion {
    const choices = completion.choices.map((choice) => {
      const { tool_calls } = choice.message
      if (!tool_calls) return choice
      const named = tool_calls.map((call, i) => ({ ...call, id: this.#callId(choice.index, i) }))
      return { ...choice, message: { ...choice.message, tool_calls: named } }
    })
    return { ...completion, choices }
  }

  readonly #places = new Map<number, number[]>()

  #chunkWithOwnIds(chunk: ChatChunk): ChatChunk {
    const choices = chunk.choices.map((choice) => {
      const { tool_calls } = choice.delta
      if (!tool_calls) return choice
      const named = tool_calls.map((call) => ({
        ...call,
        id: this.#callId(choice.index, this.#placeOf(choice.index, call.index)),
      }))
      return { ...choice, delta: { ...choice.delta, tool_calls: named } }
    })
    return { ...chunk, choices }
  }

  /** Calls are counted as they begin, whatever numbers the upstream gives them. */
  #placeOf(choice: number, call: number): number {
    const places = this.#places.get(choice) ?? []
    this.#places.set(choice, places)
    const known = places.indexOf(call)
    return known >= 0 ? known : places.push(call) - 1
  }
}

function wholeChoice({ index, message, finish_reason = null, logprobs, token_ids }: Choice): Choice {
  const { content, refusal = null, tool_calls } = message
  const reasoning = message.reasoning_content ?? message['reasoning']
  const function_call = message['function_call'] ?? null
  const calls = (tool_calls ?? []).map(({ id, function: called }) => ({
    ...(id === undefined ? {} : { id }),
    type: 'function' as const,
    function: { name: called.name, arguments: called.arguments },
  }))
  return {
    index,
    message: {
      role: 'assistant',
      content: content ? content : calls.length > 0 || refusal || function_call !== null ? null : '',
      refusal: refusal === '' ? null : refusal,
      ...(typeof reasoning === 'string' && reasoning !== '' ? { reasoning_content: reasoning } : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      ...(function_call === null ? {} : { function_call: alikeLegacyCall(function_call) }),
    },
    logprobs: alikeLogprobs(logprobs?.content ?? []),
    finish_reason: alikeFinish(finish_reason, calls.length > 0),
    ...(token_ids ? { token_ids } : {}),
  }
}

/** How much was said, in bytes. */
function bytesOf(choices: readonly Choice[]): number {
  const texts = choices.flatMap(({ message: { content, refusal, reasoning_content, tool_calls, ...more } }) => [
    content ?? '',
    refusal ?? '',
    reasoning_content ?? (typeof more['reasoning'] === 'string' ? more['reasoning'] : ''),
    ...(tool_calls ?? []).flatMap(({ function: { name, arguments: text } }) => [name, text]),
    more['function_call'] ? JSON.stringify(alikeLegacyCall(more['function_call'])) : '',
  ])
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}
