import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Decision,
  DecisionId,
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

interface DecisionDraft {
  readonly parameter: ParameterName
  readonly kind: ParameterKind
  readonly inForce: VersionInForce
  readonly inputs: readonly NodeId[]
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
  readonly #drafts = new WeakMap<Message, DecisionDraft>()
  readonly #visits = new Map<string, number>()

  /**
   * Adds a message under `parent`. The same message object under the same parent is one node, so that histories which
   * several conversations share are stored once; but what carries tokens was rendered for one branch, and is never
   * shared: each branch's spans are exactly what its policy read.
   * @returns the node, and the Decision that a Parameter made with this message, the first time that it is placed.
   */
  place(
    message: Message,
    parent: NodeId | null,
    spans: readonly Span[] = [],
  ): { readonly node: NodeId; readonly decision: Decision | null } {
    const shared = spans.length === 0 ? this.#shared.get(message)?.get(parent) : undefined
    const node = shared ?? NodeId.parse(`n${this.#graph.nodes.length}`)
    if (shared === undefined) {
      this.#graph.nodes.push({ id: node, parent, message, spans: [...spans] })
      if (spans.length === 0) this.#share(message, parent, node)
    }
    const draft = this.#drafts.get(message)
    this.#drafts.delete(message)
    return { node, decision: draft ? this.decide({ ...draft, output: node }) : null }
  }

  /** Remembers that a Parameter decided this message; the Decision is recorded when the message enters a conversation. */
  decidedMessage(message: Message, draft: Omit<DecisionDraft, 'output' | 'inputs'>): void {
    this.#drafts.set(message, { ...draft, inputs: [], output: null })
  }

  /** Records a Decision. Until {@link step} says otherwise, it belongs to the Step that comes next. */
  decide({ inForce, inputs, ...draft }: DecisionDraft): Decision {
    const id = DecisionId.parse(`d${this.#graph.decisions.length}`)
    const decision: Decision = { id, step: this.#graph.steps.length, ...inForce, ...draft, inputs: [...inputs] }
    this.#graph.decisions.push(decision)
    return decision
  }

  /** Opens the next Step with the Decisions that led to it; its observations are added by {@link observe}. */
  step(action: NodeId, decisions: readonly Decision[]): number {
    const index = this.#graph.steps.length
    for (const decision of decisions) decision.step = index
    this.#graph.steps.push({ index, action, observations: [], decisions: decisions.map(({ id }) => id) })
    return index
  }

  observe(step: number, observation: NodeId): void {
    this.#graph.steps[step]?.observations.push(observation)
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
