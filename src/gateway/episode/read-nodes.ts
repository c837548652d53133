import { jsonHashInParts, NodeId, partSize, sha256, type TrajectoryNode } from '../../core/index.ts'
import { attachTo } from './attach.ts'
import type { CallFacts } from './call-facts.ts'
import { type KnownNode, type KnownNodes, pathTo } from './known-nodes.ts'

/** A node, and by what conversations that end with it are known again. */
export interface LearnedNode {
  readonly node: KnownNode
  readonly digests: readonly (string | null)[]
}

/** The messages that a call read, as nodes. */
export interface ReadNodes {
  /** From the root to the last message. */
  readonly path: readonly KnownNode[]
  /** Those that the store does not have. */
  readonly nodes: readonly TrajectoryNode[]
  /** Tokens of the prompt that no message carries. */
  readonly unplaced: readonly number[]
  /** What there is to know of them once they are committed. */
  readonly learned: readonly LearnedNode[]
}

/** @param prompt its tokens, where they are kept. */
export async function readNodes(
  facts: CallFacts,
  known: KnownNodes,
  prompt: readonly number[] | null,
): Promise<ReadNodes> {
  const { trajectory, candidates, startedAt, weight } = facts
  const { messages, points, opening } = facts.conversation
  const attached = attachTo(candidates, prompt)
  const path: KnownNode[] = [...pathTo(attached.node)]
  const nodes: TrajectoryNode[] = []
  const learned: LearnedNode[] = []
  if (attached.node) learned.push({ node: attached.node, digests: [points[attached.messages - 1]?.exact ?? null] })
  let unplaced = prompt?.slice(attached.tokens) ?? []
  for (let i = attached.messages; i < messages.length; i += 1) {
    const message = messages[i]
    if (message === undefined) break
    const tokens = i === messages.length - 1 ? unplaced : []
    const parent = path.at(-1) ?? null
    const said = [parent?.id ?? null, message, tokens]
    const id = inputNode(weight > partSize ? await jsonHashInParts(said) : sha256(JSON.stringify(said)))
    const committed = known.node(trajectory, id)
    const node = committed ?? {
      id,
      parent,
      tokens: tokens.length > 0 ? Uint32Array.from(tokens) : null,
      opening,
      answer: null,
      continued: false,
      answered: false,
    }
    if (!committed) {
      const spans: TrajectoryNode['spans'] = tokens.length > 0 ? [{ kind: 'encoded', tokens: [...tokens] }] : []
      nodes.push({ id, parent: parent?.id ?? null, message, spans, at: startedAt })
    }
    if (tokens.length > 0) unplaced = []
    path.push(node)
    learned.push({ node, digests: [points[i]?.exact ?? null] })
  }
  return { path, nodes, unplaced, learned }
}

/**
 * The same message under the same parent, with the same tokens, is one node, whichever process writes it: what calls
 * share is stored once.
 */
function inputNode(hash: string): NodeId {
  return NodeId.parse(`m_${hash.slice(0, 24)}`)
}
