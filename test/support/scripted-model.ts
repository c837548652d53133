import { defaultBudget, type WeightsBinding } from '../../src/agent/index.ts'
import {
  type AssistantMessage,
  type Json,
  type Message,
  type Renderer,
  rng,
  type SampledSequence,
  type SampleRequest,
  type Sampler,
  seedOf,
  type TurnReader,
  VersionId,
} from '../../src/core/index.ts'
import { present } from '../../src/errors/index.ts'

/** What the model may say after a prompt, each with equal probability; the first is the one that greedy takes. */
export type Script = (prompt: string, request: SampleRequest) => readonly string[] | Promise<readonly string[]>

/** A language model over whole words, whose distribution is written down: real tokens, real probabilities. */
export interface ScriptedModel {
  readonly renderer: Renderer
  readonly sampler: Sampler
  /** Every request that the sampler got, in order. */
  readonly requests: readonly SampleRequest[]
  /** The log-probabilities of tokens after a prompt, where the model may say these texts. */
  readonly logprobs: (tokens: readonly number[], options: readonly string[]) => readonly number[]
  /** A value for a `weights` Parameter that acts with this model. */
  binding(overrides?: Partial<WeightsBinding>): WeightsBinding
}

const END = 0

/** Words and the white space between them, as token ids: lossless, and the same in every model. */
class Words {
  readonly #pieces = new Map<number, string>()

  encode(text: string): number[] {
    return (text.match(/\s+|\S+/g) ?? []).map((piece) => {
      const id = 1 + seedOf(piece)
      this.#pieces.set(id, piece)
      return id
    })
  }

  decode(tokens: readonly number[]): string {
    return tokens.map((token) => this.#pieces.get(token) ?? '').join('')
  }
}

/** Renders `role: content <end>`; calls are lines of the form `!name {"json": "arguments"}`. */
class WordRenderer implements Renderer {
  readonly name = 'words'
  readonly stop = { strings: [], tokens: [END] }
  readonly #words: Words

  constructor(words: Words) {
    this.#words = words
  }

  start(messages: readonly Message[]): readonly number[] {
    return [...messages.flatMap((message) => this.#turn(message)), ...this.#words.encode('\nassistant: ')]
  }

  extend(next: readonly Message[], sampledStop: boolean): readonly number[] {
    return [...(sampledStop ? [] : [END]), ...this.start(next)]
  }

  parse(tokens: readonly number[]): AssistantMessage {
    const content: string[] = []
    const toolCalls: { name: string; arguments: Record<string, Json> }[] = []
    const malformedCalls: { text: string; problem: string }[] = []
    for (const line of this.#words.decode(tokens).split('\n')) {
      const [, name, json] = /^!(\w+)\s*(.*)$/.exec(line) ?? []
      if (name === undefined || json === undefined) {
        content.push(line)
        continue
      }
      try {
        toolCalls.push({ name, arguments: JSON.parse(json) as Record<string, Json> })
      } catch {
        malformedCalls.push({ text: line, problem: `the arguments of ${name} are not JSON` })
      }
    }
    return {
      role: 'assistant',
      content: content.join('\n'),
      ...(toolCalls.length > 0 ? { toolCalls } : {}),
      ...(malformedCalls.length > 0 ? { malformedCalls } : {}),
    }
  }

  read(): TurnReader {
    const all: number[] = []
    return {
      push(tokens) {
        all.push(...tokens)
        return { content: '', toolCalls: [] }
      },
      end: () => this.parse(all),
    }
  }

  renderAssistant({ content, toolCalls = [] }: AssistantMessage): readonly number[] {
    const calls = toolCalls.map((call) => `!${call.name} ${JSON.stringify(call.arguments)}`)
    return [...this.#words.encode([...(content ? [content] : []), ...calls].join('\n')), END]
  }

  decode(tokens: readonly number[]): string {
    return this.#words.decode(tokens)
  }

  bytes(token: number): Uint8Array {
    return new TextEncoder().encode(this.#words.decode([token]))
  }

  #turn(message: Message): readonly number[] {
    const body =
      message.role === 'assistant' ? this.renderAssistant(message) : [...this.#words.encode(message.content), END]
    return [...this.#words.encode(`\n${message.role}: `), ...body]
  }
}

/** Resolves with the options, or with `null` as soon as the caller aborts. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  if (!signal) return work
  if (signal.aborted) return null
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => resolve(null), { once: true })
    work.then(resolve, reject)
  })
}

/** The probability of each token of `chosen` after those before it, when every option is equally likely. */
function logprobsOf(chosen: readonly number[], options: readonly (readonly number[])[]): number[] {
  let alive = options
  return chosen.map((token, i) => {
    const agreeing = alive.filter((option) => option[i] === token)
    const logprob = Math.log(agreeing.length / alive.length)
    alive = agreeing
    return logprob
  })
}

export function scriptedModel(script: Script, { contextLength = 4096 } = {}): ScriptedModel {
  const words = new Words()
  const renderer = new WordRenderer(words)
  const requests: SampleRequest[] = []

  const sampler: Sampler = {
    capabilities: { model: 'scripted', vocabularySize: 2 ** 32 + 1, contextLength, deterministic: true },
    async sample(request) {
      requests.push(request)
      const { prompt, params, signal } = request
      const said = await unlessAborted(Promise.resolve(script(words.decode(prompt), request)), signal)
      if (said === null) return [{ tokens: [], behaviourLogprobs: [], logprobs: [], stopReason: 'cancelled' }]
      const options = said.map((text) => [...words.encode(text), END])
      const greedy = params.temperature === 0
      return Array.from({ length: request.samples ?? 1 }, (_, i): SampledSequence => {
        const draw = greedy ? 0 : rng((params.seed ?? 0) + i).int(options.length)
        const chosen = present(options[draw], 'an option')
        const tokens = chosen.slice(0, params.maxTokens)
        const logprobs = logprobsOf(tokens, options)
        return {
          tokens,
          behaviourLogprobs: greedy ? tokens.map(() => 0) : logprobs,
          logprobs,
          stopReason: tokens.length === chosen.length ? 'stop' : 'length',
        }
      })
    },
    unload: () => Promise.resolve(),
  }

  return {
    renderer,
    sampler,
    requests,
    logprobs: (tokens, options) =>
      logprobsOf(
        tokens,
        options.map((text) => [...words.encode(text), END]),
      ),
    binding: (overrides = {}) => ({
      kind: 'weights',
      inForce: { version: VersionId.parse('v0'), generation: 1, checkpoint: null },
      sampler,
      renderer,
      adapter: null,
      sampling: { temperature: 1 },
      budget: defaultBudget,
      seed: 1,
      now: () => 0,
      ...overrides,
    }),
  }
}
