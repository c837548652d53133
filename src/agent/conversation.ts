import type { AssistantMessage, Message, NodeId, SampleStopReason, ToolDefinition } from '../core/index.ts'
import { InvariantError, present } from '../errors/index.ts'
import { seedOf } from '../core/index.ts'
import type { WeightsBinding } from './binding.ts'
import { currentRecorder, type Recorder } from './recorder.ts'

/** What one policy call said. */
export interface Turn {
  readonly message: AssistantMessage
  readonly stopReason: SampleStopReason
  readonly tokens: number
  /** Index of the recorded Step. */
  readonly step: number
}

/**
 * One branch of an episode: the exact tokens so far, and the leaf they lead to. Messages are rendered once, when they
 * enter; sampled tokens are kept as sampled.
 */
export class Conversation {
  readonly #parameter: string
  readonly #binding: WeightsBinding
  readonly #tools: readonly ToolDefinition[]
  readonly #recorder: Recorder
  readonly #tokens: number[]
  readonly #path: NodeId[] = []
  #closedTurn = true

  constructor(
    parameter: string,
    binding: WeightsBinding,
    opening: readonly Message[],
    tools: readonly ToolDefinition[],
  ) {
    this.#parameter = parameter
    this.#binding = binding
    this.#tools = tools
    this.#recorder = currentRecorder()
    const rendered = binding.renderer.start(opening, tools)
    this.#tokens = [...rendered]
    opening.forEach((message, i) => {
      const last = i === opening.length - 1
      this.#place(message, last ? [{ kind: 'encoded', tokens: [...rendered] }] : [])
    })
  }

  /** Tokens so far: what the next policy call will read. */
  get length(): number {
    return this.#tokens.length
  }

  /** One policy call, recorded as a Step with its Decision. */
  async next(maxTokens = this.#binding.budget.tokensPerTurn): Promise<Turn> {
    const { sampler, renderer, adapter, sampling, seed, signal, inForce } = this.#binding
    const prompt = [...this.#tokens]
    const [sequence] = await sampler.sample({
      prompt,
      adapter,
      params: {
        ...sampling,
        maxTokens,
        stop: renderer.stop.strings,
        stopTokens: renderer.stop.tokens,
        seed: seedOf(seed, this.#parameter, this.#path.length, prompt.length),
      },
      ...(signal ? { signal } : {}),
    })
    const { tokens, behaviourLogprobs, logprobs, stopReason } = present(sequence, 'a sampled sequence')
    if (tokens.length !== behaviourLogprobs.length) throw new InvariantError('the sampler returned ragged arrays')

    const message = renderer.parse(tokens, this.#tools)
    const inputs = [...this.#path]
    const node = this.#place(message, [
      {
        kind: 'sampled',
        tokens: [...tokens],
        behaviourLogprobs: [...behaviourLogprobs],
        logprobs: [...logprobs],
        sampling: {
          temperature: sampling.temperature ?? 1,
          truncated: sampling.topK !== undefined || (sampling.topP ?? 1) < 1,
        },
      },
    ])
    this.#tokens.push(...tokens)
    this.#closedTurn = stopReason === 'stop'
    const decision = this.#recorder.decide({
      parameter: this.#parameter,
      kind: 'weights',
      inForce,
      inputs,
      output: node,
      propensity: {
        log: Math.min(
          0,
          behaviourLogprobs.reduce((sum, lp) => sum + lp, 0),
        ),
      },
    })
    return { message, stopReason, tokens: tokens.length, step: this.#recorder.step(node, [decision]) }
  }

  /** Shows messages to the policy: what a step returned. */
  show(messages: readonly Message[], step: number): void {
    const rendered = this.#binding.renderer.extend(messages, this.#closedTurn)
    this.#tokens.push(...rendered)
    messages.forEach((message, i) => {
      const last = i === messages.length - 1
      this.#recorder.observe(step, this.#place(message, last ? [{ kind: 'encoded', tokens: [...rendered] }] : []))
    })
  }

  /** Records messages that end the episode: observed, but never read by the policy, so they cost no tokens. */
  end(messages: readonly Message[], step: number): void {
    for (const message of messages) this.#recorder.observe(step, this.#place(message, []))
  }

  #place(message: Message, spans: Parameters<Recorder['place']>[2]): NodeId {
    const node = this.#recorder.place(message, this.#path.at(-1) ?? null, spans)
    this.#path.push(node)
    return node
  }
}
