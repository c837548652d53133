import { type Embedder, type NodeId, sampledTokens, type Trajectory, type TrajectoryNode } from '../../core/index.ts'
import { before, ownTurns } from '../turns.ts'

/** Makes the numbers that a reward model reads. Pure: equal trajectories give equal numbers. */
export interface Features {
  /** Names what makes them, and its settings. */
  readonly name: string
  /**
   * Of a whole episode, or of one step: the message of the policy at `node`, and what came before it.
   * @returns `null` where there is nothing of the policy to read.
   */
  of(trajectory: Trajectory, node: NodeId | null): Promise<readonly number[] | null>
}

/** Characters of one text that an embedder reads: of what was asked, and of what was answered. */
const longestText = 4_000

/** The vectors of what was asked and of what was answered, one after the other. */
export function embeddedFeatures(embedder: Embedder): Features {
  return {
    name: `embedded:${embedder.name}`,
    async of(trajectory, node) {
      const texts = askedAndAnswered(trajectory, node)
      if (texts === null) return null
      const vectors = await embedder.embed(texts)
      return vectors.flatMap((vector) => [...vector])
    },
  }
}

function askedAndAnswered(trajectory: Trajectory, node: NodeId | null): readonly string[] | null {
  const turns = ownTurns(trajectory)
  const turn = node === null ? turns.at(-1) : turns.find((one) => one.node.id === node)
  if (!turn) return null
  const path = before(nodesById(trajectory), turn.node)
  const asked = path.find(({ message }) => message.role !== 'assistant')?.message.content ?? trajectory.task.instruction
  const calls = (turn.message.toolCalls ?? []).map((call) => `${call.name} ${JSON.stringify(call.arguments)}`)
  const answered = [turn.message.content, ...calls].join('\n')
  return [asked.slice(0, longestText), answered.slice(0, longestText)]
}

/**
 * What can be counted without a model: turns, tool calls, calls that failed or could not be read, the lengths of what was
 * asked and answered, sampled tokens, questions back. Lengths and counts as log(1 + n).
 */
export const countedFeatures: Features = {
  name: 'counted:1',
  of: (trajectory, node) => Promise.resolve(counted(trajectory, node)),
}

function counted(trajectory: Trajectory, node: NodeId | null): readonly number[] | null {
  const turns = ownTurns(trajectory)
  const last = node === null ? turns.at(-1) : turns.find((one) => one.node.id === node)
  if (!last) return null
  const path = [last.node, ...before(nodesById(trajectory), last.node)]
  const seen = node === null ? trajectory.nodes : path
  const own = new Set(turns.map((turn) => turn.node.id))
  const said = seen.filter(({ id }) => own.has(id))
  const results = seen.filter(({ message }) => message.role === 'tool')
  const asked = path.find(({ message }) => message.role === 'user')?.message.content ?? ''
  const counts = [
    said.length,
    sum(said, ({ message }) => (message.role === 'assistant' ? (message.toolCalls?.length ?? 0) : 0)),
    sum(said, ({ message }) => (message.role === 'assistant' ? (message.malformedCalls?.length ?? 0) : 0)),
    results.filter(({ message }) => message.role === 'tool' && message.isError === true).length,
    asked.length,
    last.message.content.length,
    last.message.content.split('?').length - 1,
    sampledTokens({ nodes: [...seen] }),
  ]
  return counts.map((count) => Math.log1p(count))
}

const nodesById = ({ nodes }: Trajectory): ReadonlyMap<NodeId, TrajectoryNode> =>
  new Map(nodes.map((node) => [node.id, node]))

const sum = (nodes: readonly TrajectoryNode[], count: (node: TrajectoryNode) => number): number =>
  nodes.reduce((total, node) => total + count(node), 0)
