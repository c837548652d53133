import {
  canonicalJson,
  isUsers,
  type Message,
  type NodeId,
  sha256,
  toolCallsOf,
  type TrajectoryNode,
} from '../../core/index.ts'
import type { Heard, Reader } from './elicited.ts'

/**
 * A tree of messages by what is said in it. The same words may stand in several nodes: where a served model's tokens differ
 * from those that were sampled, or a conversation is sent again under other tools, branches repeat what was said.
 */
export class Said {
  readonly #nodes = new Map<NodeId, TrajectoryNode>()
  readonly #children = new Map<NodeId, TrajectoryNode[]>()
  /** What is said up to and with a node, hashed. */
  readonly #words = new Map<NodeId, string>()
  /** The first words of the user on the way to a node. */
  readonly #opening = new Map<NodeId, string>()
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
      const opening = (parent && this.#opening.get(parent.id)) ?? (isUsersTurn(node) ? node.message.content : undefined)
      if (opening !== undefined) this.#opening.set(node.id, opening)
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

  /**
   * What a user who answers a turn heard: what the assistant said since they spoke, and what they had asked for: their last
   * words, and those before as far as the assistant only asked back.
   */
  heard(turn: TrajectoryNode, reader: Reader): Heard {
    let said: string[] = []
    let own: readonly string[] | null = null
    const asked: string[] = []
    let at: TrajectoryNode | undefined = turn
    for (let steps = 0; at && steps < mostBack && asked.length < mostAsked; steps += 1) {
      if (isUsersTurn(at)) {
        own ??= said
        if (asked.length > 0 && !reader.asks(said)) break
        asked.push(at.message.content)
        said = []
      } else if (at.message.role === 'assistant') said.push(answerText(at))
      at = at.parent === null ? undefined : this.#nodes.get(at.parent)
    }
    return { said: own ?? said, asked, opening: this.#opening.get(turn.id) ?? '' }
  }
}

/** Nodes and messages of the user's that are looked back over, at most: a turn is read in bounded time. */
const mostBack = 4_096
const mostAsked = 8

/** What a turn tells its user. */
export const answerText = ({ message }: TrajectoryNode): string =>
  message.role === 'assistant' && message.refusal ? `${message.content}\n${message.refusal}` : message.content

const isUsersTurn = ({ message }: TrajectoryNode): boolean => isUsers(message)

/** What a message says; ids, reasoning and other things that clients leave out when they send it back do not count. */
function wordsOf(message: Message): string {
  const calls = toolCallsOf(message)
  return canonicalJson([message.role, message.content, calls.map((call) => [call.name, call.arguments])])
}

function put<K>(groups: Map<K, TrajectoryNode[]>, key: K, node: TrajectoryNode): void {
  const group = groups.get(key)
  if (group) group.push(node)
  else groups.set(key, [node])
}
