import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type AssistantMessage,
  type Decision,
  DecisionId,
  type Input,
  type Json,
  type Message,
  NodeId,
  type ParameterKind,
  type ParameterName,
  type Propensity,
  type Span,
  type Trajectory,
  type VersionInForce,
} from '../core/index.ts'
import { AgentError } from './errors.ts'
import { type Shown, shownMessage, shownText, type Source, Sources } from './sources.ts'

/** A text that a Parameter holds, before it is known where it is read. */
export type TextDraft = Omit<DecisionDraft, 'inputs' | 'output'>

/** A Decision that something was made from; `isNew`: nothing was recorded of it before. */
export interface Origin {
  readonly decision: Decision
  readonly isNew: boolean
}

interface DecisionDraft {
  readonly parameter: ParameterName
  readonly kind: ParameterKind
  readonly inForce: VersionInForce
  readonly inputs: readonly Input[]
  readonly output: NodeId | null
  readonly propensity: Propensity
  readonly made?: Json
}

/** What happened in an episode, in the order in which it happened. */
export type RecordedGraph = Pick<Trajectory, 'nodes' | 'steps' | 'decisions'>

const emptyGraph = (): RecordedGraph => ({ nodes: [], steps: [], decisions: [] })

/**
 * Records one episode's graph: nodes, steps and decisions. Parallel branches share the recorder; each conversation
 * keeps its own leaf.
 */
export class Recorder {
  #graph = emptyGraph()
  /** Nodes without tokens, by message and parent: the ones that several conversations can share. */
  readonly #shared = new WeakMap<Message, Map<NodeId | null, NodeId>>()
  readonly #sources = new Sources()
  readonly #drafts = new WeakMap<Source, TextDraft>()
  /** Decisions that were read without a message: nobody knows where they went. */
  readonly #unplaced: Decision[] = []
  readonly #isUnplaced = new Set<Decision>()
  /** The last of them, which lead to all others. */
  #lastUnplaced: readonly Decision[] = []
  /** How many of them belong to a Step. */
  #taken = 0
  #lostTrack = false
  readonly #claimed = new Set<DecisionId>()
  readonly #visits = new Map<string, number>()
  readonly #now: (() => number) | undefined

  /** @param now tells when a node is recorded; without it no node says. */
  constructor(now?: () => number) {
    this.#now = now
  }

  /**
   * Adds a message under `parent`. The same message object under the same parent is one node, so that histories which
   * several conversations share are stored once; but what carries tokens was rendered for one branch, and is never
   * shared: each branch's spans are exactly what its policy read.
   */
  place(message: Message, parent: NodeId | null, spans: readonly Span[] = []): NodeId {
    const shared = spans.length === 0 ? this.#shared.get(message)?.get(parent) : undefined
    if (shared !== undefined) return shared
    const node = NodeId.parse(`n${this.#graph.nodes.length}`)
    this.#graph.nodes.push({ id: node, parent, message, spans: [...spans], ...(this.#now && { at: this.#now() }) })
    if (spans.length === 0) this.#share(message, parent, node)
    return node
  }

  /** Whether a message was placed. */
  get hasSpoken(): boolean {
    return this.#graph.nodes.length > 0
  }

  /** Places messages one after the other: what a program did by itself, of which nobody sampled a token. */
  transcribe(messages: readonly Message[]): void {
    let parent: NodeId | null = null
    for (const message of messages) parent = this.place(message, parent)
  }

  /** Remembers that a Parameter holds this message; the Decision is recorded when a conversation reads it. */
  decidedMessage(message: Message, draft: TextDraft): void {
    this.#drafts.set(this.#sources.add(shownMessage(message), { decision: null, version: versionKey(draft) }), draft)
  }

  /**
   * Records that a Parameter's text was read as a string. Where it went is not known, so what is claimed is that all that
   * comes later in the episode reads it, in whichever branch: every policy call, the next one of these Decisions, the
   * outcome. An async context would be narrower, but what a branch hands back would be lost. Read again, it is the same
   * Decision.
   */
  readText(text: string, draft: TextDraft): void {
    const source =
      this.#sources.ofVersion(versionKey(draft)) ??
      this.#sources.add(shownText(text), { decision: null, version: versionKey(draft) })
    if (source.decision === null) {
      source.decision = this.decideUnplaced(draft)
    } else if (!this.#isUnplaced.has(source.decision)) {
      // It was recorded before the last of the others, and cannot name it.
      this.#isUnplaced.add(source.decision)
      this.#unplaced.push(source.decision)
      this.#lastUnplaced = [...this.#lastUnplaced, source.decision]
    }
  }

  /** Records a Decision that left no message, such as a choice: like a text that was read as a string. */
  decideUnplaced(draft: Omit<DecisionDraft, 'inputs' | 'output'>): Decision {
    const inputs = this.#lastUnplaced.map(({ id }) => ({ decision: id }))
    const decision = this.decide({ ...draft, inputs, output: null })
    this.#isUnplaced.add(decision)
    this.#unplaced.push(decision)
    this.#lastUnplaced = [decision]
    return decision
  }

  /** Whether anything was decided so far. */
  get hasDecided(): boolean {
    return this.#graph.decisions.length > 0
  }

  /**
   * Decisions that left no message, and texts that were read as strings: `count` so far, and the `last` of them. Each names
   * those before it, so that whoever read the last has read all.
   */
  get unplaced(): { readonly count: number; readonly last: readonly Decision[] } {
    return { count: this.#unplaced.length, last: this.#lastUnplaced }
  }

  /** The first `count` of them, without those that belong to a Step already: they belong to the first one that reads them. */
  takeUnplaced(count: number): readonly Decision[] {
    const taken = this.#unplaced.slice(this.#taken, count)
    this.#taken = Math.max(this.#taken, count)
    return taken
  }

  /** Whether something was shown or done of which not everything is known that it comes from. */
  get lostTrack(): boolean {
    return this.#lostTrack
  }

  /** Remembers what a policy call said, so that whoever reads it elsewhere is linked to it. */
  said(message: AssistantMessage, decision: Decision): void {
    this.#sources.add(shownMessage(message), { decision, version: null })
  }

  /** Remembers that something was made of a message, or of what was made of one, and of nothing else. */
  madeOf(made: object, of: object): void {
    this.#sources.same(made, of)
  }

  /**
   * The Decisions that something was made from: see {@link Sources}.
   * @param at the node that now holds it; `null` for what is no message.
   * @param path nodes whose decisions are known to have been read.
   */
  originsOf(shown: Shown, at: NodeId | null, path: ReadonlySet<NodeId> = nothing): readonly Origin[] {
    const { how, sources, complete } = this.#sources.of(shown, path)
    if (!complete) this.#lostTrack = true
    return sources.flatMap((source): Origin[] => {
      if (source.decision !== null) return [{ decision: source.decision, isNew: false }]
      const draft = this.#drafts.get(source)
      if (!draft) return []
      source.decision = this.decide({ ...draft, inputs: [], output: how === 'is' ? at : null })
      return [{ decision: source.decision, isNew: true }]
    })
  }

  /** Records a Decision. Until {@link step} says otherwise, it belongs to the Step that comes next. */
  decide({ inForce, inputs, ...draft }: DecisionDraft): Decision {
    const id = DecisionId.parse(`d${this.#graph.decisions.length}`)
    const decision: Decision = { id, step: this.#graph.steps.length, ...inForce, ...draft, inputs: [...inputs] }
    this.#graph.decisions.push(decision)
    return decision
  }

  /** Opens the next Step with the Decisions that led to it, each in one Step only; its observations are added by {@link observe}. */
  step(action: NodeId, decisions: readonly Decision[]): number {
    const index = this.#graph.steps.length
    const own = decisions.filter(({ id }) => !this.#claimed.has(id))
    for (const decision of own) {
      decision.step = index
      this.#claimed.add(decision.id)
    }
    this.#graph.steps.push({ index, action, observations: [], decisions: own.map(({ id }) => id) })
    return index
  }

  observe(step: number, observation: NodeId): void {
    this.#graph.steps[step]?.observations.push(observation)
  }

  /** What a Step earned, by the environment; what it earned in parts adds up. */
  reward(step: number, reward: number | null): void {
    const recorded = this.#graph.steps[step]
    if (!recorded) return
    const known = recorded.reward ?? 0
    recorded.reward = reward === null || recorded.reward === null ? null : known + reward
  }

  /** How often the episode was at this position before: 0, 1, 2 … */
  visit(position: string): number {
    const visits = this.#visits.get(position) ?? 0
    this.#visits.set(position, visits + 1)
    return visits
  }

  /** Hands over what happened. A branch that outlives its episode records into nothing. */
  finish(): RecordedGraph {
    const graph = this.#graph
    this.#graph = emptyGraph()
    return graph
  }

  #share(message: Message, parent: NodeId | null, node: NodeId): void {
    const nodes = this.#shared.get(message) ?? new Map()
    this.#shared.set(message, nodes.set(parent, node))
  }
}

const nothing: ReadonlySet<NodeId> = new Set()
const versionKey = ({ parameter, inForce }: TextDraft) =>
  JSON.stringify([parameter, inForce.version, inForce.checkpoint])

const current = new AsyncLocalStorage<Recorder>()

/** Runs `work` with `recorder` in force through every await, `Promise.all` and sub-agent inside it. */
export function recording<T>(recorder: Recorder, work: () => Promise<T>): Promise<T> {
  return current.run(recorder, work)
}

/** @throws AgentError outside an episode. */
export function currentRecorder(): Recorder {
  const recorder = current.getStore()
  if (recorder) return recorder
  throw new AgentError({
    code: 'agent/outside-episode',
    message: 'A Parameter was used outside an episode, where nothing records its decisions.',
    hint: "Use parameters only inside the agent's run function, which Ratchet calls.",
  })
}
