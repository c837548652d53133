import type { Action, AssistantMessage, Decision, DecisionId, Input, NodeId } from '../core/index.ts'
import type { RecordedGraph, Recorder } from './recorder.ts'
import { type Shown, shownAction, shownMessage } from './sources.ts'

/**
 * The Decisions that an episode's state was made by: those behind each action, as far as these can be traced, and all that
 * left no message, such as choices: the program may have acted, or ended, by any of them. A fork begins with what was done
 * before it, and goes its own way.
 */
export class Deeds {
  readonly #recorder: Recorder
  readonly #decisions = new Map<DecisionId, Decision>()
  /** Whether something was done of which it is not known where it came from: anything may have led to it. */
  #untraced = false

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  fork(): Deeds {
    const copy = new Deeds(this.#recorder)
    for (const [id, decision] of this.#decisions) copy.#decisions.set(id, decision)
    copy.#untraced = this.#untraced
    return copy
  }

  /** Something was done to the episode. @returns the Decisions behind it. */
  act(action: Action): readonly Decision[] {
    return this.#trace(shownAction(action))
  }

  /** The agent gave this back as its last word. */
  end(message: AssistantMessage): void {
    this.#trace(shownMessage(message))
  }

  /** What the outcome was built from; `null` where it is all that was recorded, or is not known. */
  inputs(graph: RecordedGraph): readonly Input[] | null {
    if (this.#untraced || this.#recorder.lostTrack || this.#decisions.size === 0 || !branched(graph)) return null
    const ends = lastOf(graph, new Set([...this.#decisions.values()].flatMap(({ output }) => output ?? [])))
    const nodeless = [...this.#decisions.values()].filter(({ output }) => output === null)
    const named = new Set([...nodeless, ...this.#recorder.unplaced.last].map(({ id }) => id))
    return [...ends, ...[...named].map((id) => ({ decision: id }))]
  }

  #trace(shown: Shown): readonly Decision[] {
    const origins = this.#recorder.originsOf(shown, null)
    if (origins.length === 0 && this.#recorder.hasDecided) this.#untraced = true
    const decisions = origins.map(({ decision }) => decision)
    for (const decision of decisions) this.#decisions.set(decision.id, decision)
    return decisions
  }
}

function branched({ nodes }: RecordedGraph): boolean {
  const parents = new Set<NodeId | null>()
  for (const { parent } of nodes) {
    if (parents.has(parent)) return true
    parents.add(parent)
  }
  return false
}

/** Those of the nodes that no other of them comes after, in their order. */
function lastOf({ nodes }: RecordedGraph, among: ReadonlySet<NodeId>): readonly NodeId[] {
  const parentOf = new Map(nodes.map(({ id, parent }) => [id, parent]))
  const before = new Set<NodeId>()
  for (const id of among) {
    for (let node = parentOf.get(id) ?? null; node !== null && !before.has(node); node = parentOf.get(node) ?? null)
      before.add(node)
  }
  return [...among].filter((id) => !before.has(id))
}
