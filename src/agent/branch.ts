import type { Decision, DecisionId, Input, Message, NodeId, Span } from '../core/index.ts'
import type { Recorder } from './recorder.ts'
import { type Shown, shownMessage } from './sources.ts'

/** One branch of an episode's tree as it grows: its messages, and the Decisions that it has read beside them. */
export class Branch {
  readonly #recorder: Recorder
  #leaf: NodeId | null = null
  readonly #path = new Set<NodeId>()
  /** Decisions that are on no path of its own and that it has read. */
  readonly #read = new Set<DecisionId>()
  /** Those of them that no call has named yet. */
  #links: Input[] = []
  /** How many of the decisions without a message it has read. */
  #heard = 0
  /** Decisions that shaped what the next policy call reads: they belong to its Step. */
  #pending: Decision[] = []

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  /** Another branch that goes on from here: what there is so far is the same nodes. */
  fork(): Branch {
    const copy = new Branch(this.#recorder)
    copy.#leaf = this.#leaf
    for (const node of this.#path) copy.#path.add(node)
    for (const id of this.#read) copy.#read.add(id)
    copy.#links = [...this.#links]
    copy.#heard = this.#heard
    copy.#pending = [...this.#pending]
    return copy
  }

  /** Appends a message that the policy is shown, and finds out where it comes from. */
  show(message: Message, spans: readonly Span[]): NodeId {
    const node = this.append(message, spans)
    this.trace(shownMessage(message), node)
    return node
  }

  /** Appends a message. */
  append(message: Message, spans: readonly Span[]): NodeId {
    const node = this.#recorder.place(message, this.#leaf, spans)
    this.#leaf = node
    this.#path.add(node)
    return node
  }

  /**
   * The next policy call reads this.
   * @param at the node that holds it; `null` where no message of the branch does.
   */
  trace(shown: Shown, at: NodeId | null): void {
    for (const { decision, isNew } of this.#recorder.originsOf(shown, at, this.#path)) {
      if (isNew) this.#pending.push(decision)
      this.#link(decision)
    }
  }

  /** What the next policy call reads, as far as no earlier call of this branch named it. */
  inputs(): Input[] {
    const { count, last } = this.#recorder.unplaced
    for (const decision of last) this.#link(decision)
    this.#heard = count
    const inputs = [...(this.#leaf === null ? [] : [this.#leaf]), ...this.#links]
    this.#links = []
    return inputs
  }

  /** The Decisions that belong to the Step of the call that was made. */
  takePending(): readonly Decision[] {
    const pending = [...this.#pending, ...this.#recorder.takeUnplaced(this.#heard)]
    this.#pending = []
    return pending
  }

  #link({ id, output }: Decision): void {
    if ((output !== null && this.#path.has(output)) || this.#read.has(id)) return
    this.#read.add(id)
    this.#links.push({ decision: id })
  }
}
