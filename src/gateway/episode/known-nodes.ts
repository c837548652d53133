import { LRUCache } from 'lru-cache'
import type { NodeId, ServedBy, TrajectoryId } from '../../core/index.ts'
import type { SpokenCall } from './spoken.ts'

/** A node that is in the store. */
export interface KnownNode {
  readonly id: NodeId
  readonly parent: KnownNode | null
  /** Of its own spans, one after the other. */
  readonly tokens: Uint32Array | null
  /** Hash of the system message that its conversation begins with, as the policy read it; `''` for none. */
  readonly opening: string
  /** For a turn that we produced. */
  readonly answer: KnownAnswer | null
  /** Whether something was said after it, or is about to be. */
  continued: boolean
  /** Whether a turn that we produced follows it. */
  answered: boolean
}

/** What is known of a turn that we produced. */
export interface KnownAnswer {
  readonly calls: readonly SpokenCall[]
  /** Hash of what the prompt was rendered by, beside the messages. */
  readonly prompt: string
  /** Whether its tokens are known as sampled; then the tokens on the way to it are exactly what the policy read. */
  readonly sampled: boolean
  /** Whether the policy closed the turn; `null` when nobody knows. */
  readonly closedTurn: boolean | null
}

/** What is known of a trajectory beside its nodes. */
export interface KnownTree {
  /** Whether all its nodes are known here, but for those that another gateway wrote meanwhile. */
  complete: boolean
  /** False once a call has forbidden learning from it. */
  train: boolean
  /** What served it when it began; `null` as long as nobody knows. */
  servedBy: ServedBy | null
  /** The person that it is about: the first that a call named; `null` for nobody, as far as is known. */
  subject: string | null
  /** Keys of the toolsets that it has. */
  readonly toolsets: Set<string>
}

/** Nodes with one digest that are worth telling apart. */
const mostAlike = 16
/** Toolsets of one trajectory that are remembered; others are written again, which changes nothing. */
const mostToolsets = 64
const mostTrees = 50_000
/** What a node takes in memory with all that leads to it, without its tokens: measured. */
const bytesOfNode = 1_500

/**
 * What this process knows of the trajectories in the store: of bounded size, the least recently used goes first. Nothing
 * depends on its being complete: what is unknown is written again under the same id, or read from the store.
 */
export class KnownNodes {
  readonly #nodes: LRUCache<string, KnownNode>
  readonly #digests: LRUCache<string, readonly KnownNode[]>
  readonly #trees = new LRUCache<TrajectoryId, KnownTree>({ max: mostTrees })

  /** @param bytes about how much memory it may take. */
  constructor(bytes: number) {
    this.#nodes = new LRUCache({
      maxSize: bytes,
      sizeCalculation: sizeOf,
      dispose: (_, key, reason) => {
        if (reason === 'evict') this.forgets(key.slice(0, key.indexOf(' ')) as TrajectoryId)
      },
    })
    this.#digests = new LRUCache({ max: Math.max(1_000, Math.ceil(bytes / bytesOfNode)) })
  }

  tree(trajectory: TrajectoryId): KnownTree {
    const known = this.#trees.get(trajectory)
    if (known) return known
    const tree: KnownTree = { complete: false, train: true, servedBy: null, subject: null, toolsets: new Set() }
    this.#trees.set(trajectory, tree)
    return tree
  }

  /** Not all of a trajectory is known here any more. */
  forgets(trajectory: TrajectoryId): void {
    const tree = this.#trees.peek(trajectory)
    if (tree) tree.complete = false
  }

  node(trajectory: TrajectoryId, id: NodeId): KnownNode | undefined {
    return this.#nodes.get(`${trajectory} ${id}`)
  }

  /** Nodes that the conversation with this digest ends with, the latest first. */
  at(trajectory: TrajectoryId, digest: string): readonly KnownNode[] {
    return this.#digests.get(`${trajectory} ${digest}`) ?? []
  }

  /**
   * Takes in a node that is in the store; one that is known stays as it is.
   * @returns the one that is known from now on.
   */
  add(trajectory: TrajectoryId, node: KnownNode, digests: readonly (string | null)[]): KnownNode {
    const parent = node.parent && (this.node(trajectory, node.parent.id) ?? node.parent)
    const key = `${trajectory} ${node.id}`
    let known = this.#nodes.get(key)
    if (!known) {
      known = parent === node.parent ? node : { ...node, parent }
      this.#nodes.set(key, known)
    }
    if (parent) {
      parent.continued = true
      if (node.answer) parent.answered = true
    }
    for (const digest of digests) if (digest !== null) this.bind(trajectory, digest, known)
    return known
  }

  /** Says that the conversation with this digest ends with this node; of several, those that were said first come last. */
  bind(trajectory: TrajectoryId, digest: string, node: KnownNode): void {
    const known = this.at(trajectory, digest)
    if (!known.includes(node)) this.#order(trajectory, digest, node, known)
  }

  /** The same for all nodes of a trajectory, one after the other: afterwards they are in their order. */
  bindLatest(trajectory: TrajectoryId, digest: string, node: KnownNode): void {
    this.#order(trajectory, digest, node, this.at(trajectory, digest))
  }

  #order(trajectory: TrajectoryId, digest: string, node: KnownNode, known: readonly KnownNode[]): void {
    const others = known.filter(({ id }) => id !== node.id)
    this.#digests.set(`${trajectory} ${digest}`, [node, ...others].slice(0, mostAlike))
  }

  addToolset(trajectory: TrajectoryId, key: string): void {
    const { toolsets } = this.tree(trajectory)
    if (toolsets.size >= mostToolsets) toolsets.clear()
    toolsets.add(key)
  }

  clear(): void {
    this.#nodes.clear()
    this.#digests.clear()
    this.#trees.clear()
  }
}

/** The nodes from the root to this one. */
export function pathTo(node: KnownNode | null): readonly KnownNode[] {
  const path: KnownNode[] = []
  for (let at = node; at; at = at.parent) path.push(at)
  return path.toReversed()
}

/** The tokens that the nodes from the root to this one carry. */
export function tokensTo(node: KnownNode | null): readonly number[] {
  return pathTo(node).flatMap(({ tokens }) => (tokens ? [...tokens] : []))
}

/** How many tokens the way to a node has, where `prompt` begins with them; `null` where it does not. */
export function tokensShared(node: KnownNode | null, prompt: readonly number[]): number | null {
  let count = 0
  for (const { tokens } of pathTo(node)) {
    for (const token of tokens ?? []) {
      if (prompt[count] !== token) return null
      count += 1
    }
  }
  return count
}

function sizeOf({ tokens, answer }: KnownNode): number {
  const calls = answer && answer.calls.length > 0 ? JSON.stringify(answer.calls).length * 3 : 0
  return bytesOfNode + (tokens?.byteLength ?? 0) + calls
}
