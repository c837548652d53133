import {
  type Action,
  type AssistantMessage,
  type Message,
  type NodeId,
  notByChance,
  type Propensity,
  type SampleStopReason,
  seedOf,
  sha256,
  type Span,
  type ToolDefinition,
} from '../core/index.ts'
import { InvariantError, present } from '../errors/index.ts'
import { bestOf, logprobOf, type Sampled } from './best-of.ts'
import type { WeightsBinding } from './binding.ts'
import { Branch } from './branch.ts'
import { EpisodeStopped } from './errors.ts'
import { currentRecorder, type Recorder } from './recorder.ts'
import { type RenderedPart, renderedParts, spansOf } from './rendered-parts.ts'
import { shownMessage, shownText } from './sources.ts'

/** What one policy call said. */
export interface Turn {
  readonly message: AssistantMessage
  readonly stopReason: SampleStopReason
  /** As sampled, the stop token included. */
  readonly tokens: readonly number[]
  /** Index of the recorded Step. */
  readonly step: number
}

/** What was said in one turn, and how it came about. */
interface Said extends Pick<Turn, 'message' | 'stopReason'> {
  readonly span: Span
  readonly propensity: Propensity
}

/**
 * One branch of an episode: the exact tokens so far, and the leaf they lead to. Messages are rendered once, when they
 * enter; sampled tokens are kept as sampled. The spans along the branch are the tokens that the policy read and wrote.
 */
export class Conversation {
  readonly #parameter: string
  readonly #binding: WeightsBinding
  /** What may be called: what was offered, at the least. */
  readonly #tools: readonly ToolDefinition[]
  readonly #recorder: Recorder
  readonly #branch: Branch
  /** Everything that the next policy call reads. */
  #tokens: readonly number[] = []
  /** The end of it that no node carries yet: messages were rendered together, or there was none. */
  #unplaced: readonly RenderedPart[] = []
  /** Every message of it, sampled ones too. */
  #read: readonly Message[] = []
  #closedTurn = true
  #lastStep: number | null = null

  private constructor(
    parameter: string,
    binding: WeightsBinding,
    tools: readonly ToolDefinition[],
    recorder: Recorder,
    branch: Branch,
  ) {
    this.#parameter = parameter
    this.#binding = binding
    this.#tools = tools
    this.#recorder = recorder
    this.#branch = branch
  }

  /**
   * @param tools what is offered, in the prompt.
   * @param callable what may be called, where that is more.
   * @throws AgentError outside an episode.
   */
  static open(
    parameter: string,
    binding: WeightsBinding,
    opening: readonly Message[],
    tools: readonly ToolDefinition[],
    callable = tools,
  ): Conversation {
    const recorder = currentRecorder()
    const conversation = new Conversation(parameter, binding, callable, recorder, new Branch(recorder))
    conversation.#render(opening, (messages) => binding.renderer.start(messages, tools))
    return conversation
  }

  /** Another one that goes on from here. What both have read and said so far is the same nodes, and the same tokens. */
  fork(): Conversation {
    const copy = new Conversation(this.#parameter, this.#binding, this.#tools, this.#recorder, this.#branch.fork())
    copy.#tokens = this.#tokens
    copy.#unplaced = this.#unplaced
    copy.#read = this.#read
    copy.#closedTurn = this.#closedTurn
    copy.#lastStep = this.#lastStep
    return copy
  }

  /** Index of the Step in which it spoke last; `null` before it has. */
  get lastStep(): number | null {
    return this.#lastStep
  }

  /** Tokens so far: what the next policy call will read. */
  get length(): number {
    return this.#tokens.length
  }

  /**
   * One policy call of at most `maxTokens`, recorded as a Step with its Decisions. Where the best of several is said, it is
   * no sample of the policy: its behaviour log-probabilities are not known, and it enters no policy gradient.
   * @throws EpisodeStopped when the model fails.
   */
  async next(maxTokens: number): Promise<Turn> {
    const { inForce, forced } = this.#binding
    const inputs = this.#branch.inputs()
    const first = forced?.take() ?? null
    const { message, stopReason, span, propensity } = first === null ? await this.#speak(maxTokens) : this.#say(first)
    const { tokens } = span

    const node = this.#branch.append(message, [...this.#rendered(), span])
    this.#tokens = this.#tokens.concat(tokens)
    this.#read = this.#read.concat(message)
    this.#closedTurn = stopReason === 'stop'
    const decision = this.#recorder.decide({
      parameter: this.#parameter,
      kind: 'weights',
      inForce,
      inputs,
      output: node,
      propensity,
    })
    this.#recorder.said(message, decision)
    const step = this.#recorder.step(node, [...this.#branch.takePending(), decision])
    this.#lastStep = step
    return { message, stopReason, tokens, step }
  }

  /** What the model says. */
  async #speak(maxTokens: number): Promise<Said> {
    const { sampling, best } = this.#binding
    const { sequence, message } = await this.#sample(maxTokens)
    const { tokens, behaviourLogprobs, logprobs, stopReason } = sequence
    return {
      message,
      stopReason,
      span: {
        kind: 'sampled',
        tokens: [...tokens],
        behaviourLogprobs: best ? null : [...behaviourLogprobs],
        logprobs: [...logprobs],
        sampling: {
          temperature: sampling.temperature ?? 1,
          // A mixture with a datastore is no more what a trainer computes than a cut distribution is.
          truncated: sampling.topK !== undefined || (sampling.topP ?? 1) < 1 || (sampling.nearest?.weight ?? 0) > 0,
        },
      },
      propensity: best ? { log: null, reason: 'not-recorded' } : { log: Math.min(0, logprobOf(behaviourLogprobs)) },
    }
  }

  /** What the model is made to say. */
  #say(tokens: readonly number[]): Said {
    const { renderer } = this.#binding
    const ended = renderer.stop.tokens.includes(tokens.at(-1) ?? -1) || renderer.stop.strings.length > 0
    return {
      message: renderer.parse(tokens, this.#tools),
      stopReason: ended ? 'stop' : 'length',
      span: { kind: 'encoded', tokens: [...tokens], forced: true },
      propensity: notByChance,
    }
  }

  /** Shows messages to the policy: what a step returned. */
  show(messages: readonly Message[], step: number): void {
    const nodes = this.#render(messages, (some) => this.#binding.renderer.extend(some, this.#closedTurn))
    for (const node of nodes) this.#recorder.observe(step, node)
  }

  /** Tokens that it would take to show messages after a turn. */
  measure(messages: readonly Message[], { stopReason }: Pick<Turn, 'stopReason'>): number {
    return this.#binding.renderer.extend(messages, stopReason === 'stop').length
  }

  /**
   * Goes on as another conversation of the episode went on: a turn, and what was shown after it. The turn is read as it was
   * sampled, never rendered anew, and is context here: no loss learns from its tokens twice.
   */
  repeat({ message, tokens, stopReason, step }: Turn, shown: readonly Message[]): void {
    this.#tokens = this.#tokens.concat(tokens)
    this.#unplaced = this.#unplaced.concat({ tokens, recalled: false })
    this.#branch.show(message, this.#rendered())
    this.#read = this.#read.concat(message)
    this.#closedTurn = stopReason === 'stop'
    this.#lastStep = step
    this.#render(shown, (messages) => this.#binding.renderer.extend(messages, this.#closedTurn))
  }

  /** Records messages that end the episode, or this branch of it: observed, but not read here, so they cost no tokens. */
  end(messages: readonly Message[], step: number): void {
    for (const message of messages) this.#recorder.observe(step, this.#branch.show(message, []))
  }

  /** What is done to an episode with what it said. */
  acts(action: Action, said: AssistantMessage): void {
    this.#recorder.madeOf(action, said)
  }

  /** The next policy call was built from these, whatever the messages show. */
  from(sources: readonly (string | Message)[]): void {
    for (const source of sources)
      this.#branch.trace(typeof source === 'string' ? shownText(source) : shownMessage(source), null)
  }

  async #sample(maxTokens: number): Promise<Sampled> {
    const { best } = this.#binding
    const candidates = await this.#candidates(maxTokens, best?.of ?? 1)
    const cut = candidates.find(({ sequence }) => sequence.stopReason === 'cancelled')
    if (best && !cut) return bestOf(candidates, this.#read, best)
    return cut ?? present(candidates[0], 'a sampled sequence')
  }

  async #candidates(maxTokens: number, count: number): Promise<readonly Sampled[]> {
    const { sampler, renderer, adapter, sampling, signal } = this.#binding
    try {
      const sampled = await sampler.sample({
        prompt: this.#tokens,
        adapter,
        params: {
          ...sampling,
          maxTokens,
          stop: renderer.stop.strings,
          stopTokens: renderer.stop.tokens,
          seed: this.#seed(),
        },
        ...(count > 1 ? { samples: count } : {}),
        ...(signal ? { signal } : {}),
      })
      if (sampled.length < count) throw new InvariantError('the sampler returned too few sequences')
      return sampled.map((sequence) => {
        const { tokens, behaviourLogprobs, logprobs } = sequence
        if (tokens.length !== behaviourLogprobs.length || tokens.length !== logprobs.length) {
          throw new InvariantError('the sampler returned ragged arrays')
        }
        return { sequence, message: renderer.parse(tokens, this.#tools) }
      })
    } catch (cause) {
      throw signal?.aborted ? new EpisodeStopped('cancelled') : new EpisodeStopped('model-error', cause)
    }
  }

  /** Keyed by what is read, and by how often it was read before: branches that ask the same get different answers. */
  #seed(): number {
    const position = sha256(`${this.#parameter} ${this.#tokens.join(' ')}`)
    return seedOf(this.#binding.seed, position, this.#recorder.visit(position))
  }

  /** Appends messages that are rendered together: the last one carries the tokens. */
  #render(
    messages: readonly Message[],
    render: (messages: readonly Message[]) => readonly number[],
  ): readonly NodeId[] {
    const parts = renderedParts(messages, render)
    this.#tokens = this.#tokens.concat(parts.flatMap(({ tokens }) => tokens))
    this.#unplaced = this.#unplaced.concat(parts)
    this.#read = this.#read.concat(messages)
    return messages.map((message, i) => this.#branch.show(message, i === messages.length - 1 ? this.#rendered() : []))
  }

  /** Takes the tokens that no node carries yet, as spans. */
  #rendered(): Span[] {
    const unplaced = this.#unplaced
    this.#unplaced = []
    return spansOf(unplaced)
  }
}
