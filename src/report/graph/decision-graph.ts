import {
  type Decision,
  type DecisionId,
  type Input,
  type Message,
  type NodeId,
  type Trajectory,
  type TrajectoryNode,
  upstreamOf,
} from '../../core/index.ts'

/** One Decision as it is drawn. */
export interface DrawnDecision {
  readonly decision: Decision
  /** What it decided; `null` where no message holds it. */
  readonly said: Message | null
  /** The last message that it read; `null` where it read none. */
  readonly read: Message | null
  /** The Decisions that it read at first hand: those behind them are read through these. */
  readonly from: readonly DecisionId[]
  /** Whether the outcome descends from it; `null` where that is not known. */
  readonly used: boolean | null
}

/** An episode's Decisions with what each read at first hand, in the order in which they were made. */
export interface DecisionGraph {
  readonly decisions: readonly DrawnDecision[]
  readonly outcome: {
    readonly from: readonly DecisionId[]
    /** Whether it was recorded what the outcome was built from; else it may be all. */
    readonly known: boolean
  }
}

/** Reads the graph out of a trajectory. */
export function decisionGraph(trajectory: Trajectory): DecisionGraph {
  const { nodes, decisions, outcome } = trajectory
  const tree = new Tree(trajectory)
  const used = outcome ? upstreamOf(outcome.inputs, trajectory) : null
  const drawn = decisions.map((decision): DrawnDecision => {
    const last = decision.inputs.findLast((input) => typeof input === 'string')
    return {
      decision,
      said: decision.output === null ? null : (tree.at(decision.output)?.message ?? null),
      read: last === undefined ? null : (tree.at(last)?.message ?? null),
      from: tree.firstHand(decision.inputs).filter((id) => id !== decision.id),
      used: used && used.has(decision.id),
    }
  })
  const read = new Set(drawn.flatMap(({ from }) => from))
  const ends = decisions.filter(({ id }) => !read.has(id)).map(({ id }) => id)
  const built = outcome ? tree.firstHand(outcome.inputs) : ends
  return { decisions: drawn, outcome: { from: built, known: outcome !== undefined || !branched(nodes) } }
}

/** The messages of an episode, and who decided them. */
class Tree {
  readonly #nodes: ReadonlyMap<NodeId, TrajectoryNode>
  readonly #madeAt = new Map<NodeId, Decision[]>()

  constructor({ nodes, decisions }: Trajectory) {
    this.#nodes = new Map(nodes.map((node) => [node.id, node]))
    for (const decision of decisions) {
      if (decision.output === null) continue
      const made = this.#madeAt.get(decision.output)
      if (made) made.push(decision)
      else this.#madeAt.set(decision.output, [decision])
    }
  }

  at(id: NodeId): TrajectoryNode | undefined {
    return this.#nodes.get(id)
  }

  /** The nearest Decisions on the way back from what was read: what these read in their turn need not be said again. */
  firstHand(inputs: readonly Input[]): readonly DecisionId[] {
    const found = new Set<DecisionId>()
    for (const input of this.#lastOf(inputs)) {
      if (typeof input !== 'string') {
        found.add(input.decision)
        continue
      }
      for (let node = this.at(input); node; node = node.parent === null ? undefined : this.at(node.parent)) {
        const made = this.#madeAt.get(node.id) ?? []
        for (const { id } of made) found.add(id)
        if (made.some((one) => one.inputs.some((of) => typeof of === 'string'))) break
      }
    }
    return [...found]
  }

  /** Without nodes that others of them come after: older records name every node. */
  #lastOf(inputs: readonly Input[]): readonly Input[] {
    const nodes = inputs.filter((input) => typeof input === 'string')
    if (nodes.length < 2) return inputs
    const before = new Set<NodeId>()
    for (const id of nodes) {
      for (let up = this.at(id)?.parent ?? null; up !== null && !before.has(up); up = this.at(up)?.parent ?? null)
        before.add(up)
    }
    return inputs.filter((input) => typeof input !== 'string' || !before.has(input))
  }
}

function branched(nodes: readonly TrajectoryNode[]): boolean {
  return new Set(nodes.map(({ parent }) => parent)).size < nodes.length
}
