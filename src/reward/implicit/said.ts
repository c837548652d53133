import { canonicalJson, type Message, type NodeId, sha256, type TrajectoryNode } from '../../core/index.ts'

/**
 * A tree of messages by what is said in it. The same words may stand in several nodes: where a served model's tokens differ
 * from those that were sampled, or a conversation is sent again under other tools, branches repeat what was said.
 */
export class Said {
  readonly #nodes = new Map<NodeId, TrajectoryNode>()
  readonly #children = new Map<NodeId, TrajectoryNode[]>()
  /** What is said up to and with a node, hashed. */
  readonly #words = new Map<NodeId, string>()
  readonly #asked = new Map<NodeId, string | null>()
  readonly #alike = new Map<string, TrajectoryNode[]>()
  readonly #inPlaceOf = new Map<string, TrajectoryNode[]>()

  /** @param nodes parents first. */
  constructor(nodes: readonly TrajectoryNode[]) {
    for (const node of nodes) {
      const parent = node.parent === null ? undefined : this.#nodes.get(node.parent)
      const before = parent ? (this.#words.get(parent.id) ?? '') : ''
      const words = sha256(`${before}\n${wordsOf(node.message)}`)
      this.#nodes.set(node.id, node)
      this.#words.set(node.id, words)
      this.#asked.set(node.id, parent ? this.#askedIn(parent) : null)
      put(this.#alike, words, node)
      put(this.#inPlaceOf, before, node)
      if (parent) put(this.#children, parent.id, node)
    }
  }

  node(id: NodeId): TrajectoryNode | undefined {
    return this.#nodes.get(id)
  }

  children({ id }: TrajectoryNode): readonly TrajectoryNode[] {
    return this.#children.get(id) ?? []
  }

  /** Nodes that say the same after the same, itself included. */
  alike({ id }: TrajectoryNode): readonly TrajectoryNode[] {
    return this.#alike.get(this.#words.get(id) ?? '') ?? []
  }

  /** Nodes that follow the same words, itself included. */
  inPlaceOf({ parent }: TrajectoryNode): readonly TrajectoryNode[] {
    return this.#inPlaceOf.get(parent === null ? '' : (this.#words.get(parent) ?? '')) ?? []
  }

  /** The user's last words before a node. */
  askedBefore({ id }: TrajectoryNode): string | null {
    return this.#asked.get(id) ?? null
  }

  #askedIn(node: TrajectoryNode): string | null {
    return node.message.role === 'user' ? node.message.content : (this.#asked.get(node.id) ?? null)
  }
}

/** What a message says; ids, reasoning and other things that clients leave out when they send it back do not count. */
function wordsOf(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  return canonicalJson([message.role, message.content, calls.map((call) => [call.name, call.arguments])])
}

function put<K>(groups: Map<K, TrajectoryNode[]>, key: K, node: TrajectoryNode): void {
  const group = groups.get(key)
  if (group) group.push(node)
  else groups.set(key, [node])
}
