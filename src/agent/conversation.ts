import {
  type AssistantMessage,
  type Decision,
  type DecisionId,
  type Input,
  type Message,
  type NodeId,
  type SampledSequence,
  type SampleStopReason,
  seedOf,
  sha256,
  type Span,
  type ToolDefinition,
} from '../core/index.ts'
import { InvariantError, present } from '../errors/index.ts'
import type { WeightsBinding } from './binding.ts'
import { EpisodeStopped } from './errors.ts'
import { currentRecorder, type Recorder } from './recorder.ts'
import { type Shown, shownMessage, shownText } from './sources.ts'

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
 * enter; sampled tokens are kept as sampled. The spans along the branch are the tokens that the policy read and wrote.
 */
export class Conversation {
  readonly #parameter: string
  readonly #binding: WeightsBinding
  readonly #tools: readonly ToolDefinition[]
  readonly #recorder: Recorder
  #leaf: NodeId | null = null
  readonly #path = new Set<NodeId>()
  /** Decisions that are on no path of its own and that it has read. */
  readonly #read = new Set<DecisionId>()
  /** Those of them that no call has named yet. */
  #links: Input[] = []
  /** How many of the decisions that were read as strings it knows. */
  #heard = 0
  /** Everything that the next policy call reads. */
  #tokens: readonly number[] = []
  /** The end of it that no node carries yet: messages were rendered together, or there was none. */
  #unplaced: readonly number[] = []
  /** Decisions that shaped what the next policy call reads: they belong to its Step. */
  #pending: Decision[] = []
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
    this.#render(opening, binding.renderer.start(opening, tools))
  }

  /** Tokens so far: what the next policy call will read. */
  get length(): number {
    return this.#tokens.length
  }

  /**
   * One policy call of at most `maxTokens`, recorded as a Step with its Decisions.
   * @throws EpisodeStopped when the model fails.
   */
  async next(maxTokens: number): Promise<Turn> {
    const { sampling, inForce } = this.#binding
    const inputs = this.#inputs()
    const { sequence, message } = await this.#sample(maxTokens)
    const { tokens, behaviourLogprobs, logprobs, stopReason } = sequence

    const node = this.#append(message, [
      ...this.#rendered(),
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
    this.#tokens = this.#tokens.concat(tokens)
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
    this.#recorder.said(message, decision)
    const step = this.#recorder.step(node, [...this.#pending, decision])
    this.#pending = []
    return { message, stopReason, tokens: tokens.length, step }
  }

  /** Shows messages to the policy: what a step returned. */
  show(messages: readonly Message[], step: number): void {
    const nodes = this.#render(messages, this.#binding.renderer.extend(messages, this.#closedTurn))
    for (const node of nodes) this.#recorder.observe(step, node)
  }

  /** Records messages that end the episode: observed, but never read by the policy, so they cost no tokens. */
  end(messages: readonly Message[], step: number): void {
    for (const message of messages) this.#recorder.observe(step, this.#place(message, []))
  }

  /** The next policy call was built from these, whatever the messages show. */
  from(sources: readonly (string | Message)[]): void {
    for (const source of sources)
      this.#trace(typeof source === 'string' ? shownText(source) : shownMessage(source), null)
  }

  async #sample(maxTokens: number): Promise<{ sequence: SampledSequence; message: AssistantMessage }> {
    const { sampler, renderer, adapter, sampling, signal } = this.#binding
    try {
      const [first] = await sampler.sample({
        prompt: this.#tokens,
        adapter,
        params: {
          ...sampling,
          maxTokens,
          stop: renderer.stop.strings,
          stopTokens: renderer.stop.tokens,
          seed: this.#seed(),
        },
        ...(signal ? { signal } : {}),
      })
      const sequence = present(first, 'a sampled sequence')
      const { tokens, behaviourLogprobs, logprobs } = sequence
      if (tokens.length !== behaviourLogprobs.length || tokens.length !== logprobs.length) {
        throw new InvariantError('the sampler returned ragged arrays')
      }
      return { sequence, message: renderer.parse(tokens, this.#tools) }
    } catch (cause) {
      throw signal?.aborted ? new EpisodeStopped('cancelled') : new EpisodeStopped('model-error', cause)
    }
  }

  /** Keyed by what is read, and by how often it was read before: branches that ask the same get different answers. */
  #seed(): number {
    const position = sha256(`${this.#parameter} ${this.#tokens.join(' ')}`)
    return seedOf(this.#binding.seed, position, this.#recorder.visit(position))
  }

  /** What the next policy call reads, as far as no earlier call of this conversation named it. */
  #inputs(): Input[] {
    const { everywhere } = this.#recorder
    for (const decision of everywhere.slice(this.#heard)) {
      // Of the first Step that reads it: the recorder knows which that is.
      this.#pending.push(decision)
      this.#link(decision)
    }
    this.#heard = everywhere.length
    const inputs = [...(this.#leaf === null ? [] : [this.#leaf]), ...this.#links]
    this.#links = []
    return inputs
  }

  #link({ id, output }: Decision): void {
    if ((output !== null && this.#path.has(output)) || this.#read.has(id)) return
    this.#read.add(id)
    this.#links.push({ decision: id })
  }

  /** Appends messages that were rendered together: the last one carries the tokens. */
  #render(messages: readonly Message[], rendered: readonly number[]): readonly NodeId[] {
    this.#tokens = this.#tokens.concat(rendered)
    this.#unplaced = this.#unplaced.concat(rendered)
    return messages.map((message, i) => this.#place(message, i === messages.length - 1 ? this.#rendered() : []))
  }

  /** Takes the tokens that no node carries yet, as a span. */
  #rendered(): Span[] {
    const tokens = [...this.#unplaced]
    this.#unplaced = []
    return tokens.length === 0 ? [] : [{ kind: 'encoded', tokens }]
  }

  /** Appends a message that the policy is shown, and finds out where it comes from. */
  #place(message: Message, spans: readonly Span[]): NodeId {
    const node = this.#append(message, spans)
    this.#trace(shownMessage(message), node)
    return node
  }

  #trace(shown: Shown, at: NodeId | null): void {
    for (const { decision, isNew } of this.#recorder.originsOf(shown, at, this.#path)) {
      if (isNew) this.#pending.push(decision)
      this.#link(decision)
    }
  }

  #append(message: Message, spans: readonly Span[]): NodeId {
    const node = this.#recorder.place(message, this.#leaf, spans)
    this.#leaf = node
    this.#path.add(node)
    return node
  }
}
