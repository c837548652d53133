import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Decision,
  DecisionId,
  type Message,
  NodeId,
  type ParameterKind,
  type ParameterName,
  type Propensity,
  type Span,
  type Step,
  type TrajectoryNode,
  type VersionId,
} from '../core/index.ts'
import { AgentError } from './errors.ts'

/** Which value of a Parameter is in force during an episode. */
export interface VersionInForce {
  readonly version: VersionId
  readonly generation: number
  /** Optimizer steps of the run under way; `null` when the version itself serves. */
  readonly checkpoint: number | null
}

interface DecisionDraft {
  readonly parameter: ParameterName
  readonly kind: ParameterKind
  readonly inForce: VersionInForce
  readonly inputs: readonly NodeId[]
  readonly output: NodeId | null
  readonly propensity: Propensity
}

/**
 * Records one episode's graph: nodes, steps and decisions, in the order in which they happened. Parallel branches share
 * the recorder; each conversation keeps its own leaf.
 */
export class Recorder {
  readonly nodes: TrajectoryNode[] = []
  readonly steps: Step[] = []
  readonly decisions: Decision[] = []
  readonly #placed = new WeakMap<Message, TrajectoryNode>()
  readonly #drafts = new WeakMap<Message, DecisionDraft>()

  /**
   * Adds a message under `parent`. The same message object under the same parent is one node, so that histories which
   * several conversations share are stored once.
   */
  place(message: Message, parent: NodeId | null, spans: readonly Span[] = []): NodeId {
    const known = this.#placed.get(message)
    if (known && known.parent === parent && spans.length === 0) return known.id
    const node: TrajectoryNode = { id: NodeId.parse(`n${this.nodes.length}`), parent, message, spans: [...spans] }
    this.nodes.push(node)
    if (!known) this.#placed.set(message, node)
    const draft = this.#drafts.get(message)
    if (draft) {
      this.#drafts.delete(message)
      this.decide({ ...draft, output: node.id })
    }
    return node.id
  }

  /** Remembers that a Parameter decided this message; the Decision is recorded when the message enters a conversation. */
  decidedMessage(message: Message, draft: Omit<DecisionDraft, 'output' | 'inputs'>): void {
    this.#drafts.set(message, { ...draft, inputs: [], output: null })
  }

  /** Records a Decision of the step that is about to be, or was just, taken. */
  decide(draft: DecisionDraft, step = this.steps.length): DecisionId {
    const id = DecisionId.parse(`d${this.decisions.length}`)
    const { parameter, kind, inForce, inputs, output, propensity } = draft
    this.decisions.push({ id, step, parameter, kind, ...inForce, inputs: [...inputs], output, propensity })
    return id
  }

  /** Opens the next Step; its observations are added by {@link observe}. */
  step(action: NodeId, decisions: readonly DecisionId[]): number {
    const index = this.steps.length
    this.steps.push({ index, action, observations: [], decisions: [...decisions] })
    return index
  }

  observe(step: number, observation: NodeId): void {
    this.steps[step]?.observations.push(observation)
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
