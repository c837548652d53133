import type { NodeId, Trajectory, TrajectoryNode } from '../../core/index.ts'
import { before, isWhole, type OwnTurn, ownTurns, sinceUser } from '../turns.ts'
import { type Clarity, clearByWording } from './clarity.ts'
import type { Guard } from './guard.ts'
import { asksBack } from './words.ts'

export interface QuestionsBackOptions {
  /** How clear a task is. Default: by its wording. */
  readonly clarity?: Clarity
  /** From which clarity on a task is clear. Default 0.5. */
  readonly clearFrom?: number
  /** Questions back on clear tasks that one episode may hold. Default 0. */
  readonly allow?: number
}

type Nodes = ReadonlyMap<NodeId, TrajectoryNode>

/**
 * Vetoes an episode that asks back although the task is clear: a question costs the policy nothing and its user an answer.
 * A turn asks back when it does nothing but ask for more; asking for leave counts from the second time on. A question
 * after a tool was called since the user spoke is not one: what was found may have raised it. The task is what the user said last,
 * with what they said before where that was asked back about.
 */
export function questionsBack({
  clarity = clearByWording(),
  clearFrom = 0.5,
  allow = 0,
}: QuestionsBackOptions = {}): Guard {
  return {
    name: 'questions-back',
    identity: `questions-back:${JSON.stringify([clarity.name, clearFrom, allow])}`,
    lasting: true,
    inspect(trajectory) {
      const nodes: Nodes = new Map(trajectory.nodes.map((node) => [node.id, node]))
      const clear = ownTurns(trajectory).filter(
        (turn) => onlyAsks(turn, nodes) && clarity.of(taskOf(turn, nodes, trajectory)) >= clearFrom,
      )
      const said = clear[0]?.message.content.trim().slice(0, 80)
      return clear.length > allow ? `asked back although the task is clear: "${said}"` : null
    },
  }
}

function onlyAsks(turn: OwnTurn, nodes: Nodes): boolean {
  const { toolCalls = [], malformedCalls = [], content } = turn.message
  if (!isWhole(turn) || toolCalls.length + malformedCalls.length > 0) return false
  const asks = asksBack(content)
  if (asks === null || sinceUser(nodes, turn.node).some(({ message }) => message.role === 'tool')) return false
  return asks === 'more' || before(nodes, turn.node).some((node) => asksIn(node) === 'leave')
}

const asksIn = ({ message }: TrajectoryNode) => (message.role === 'assistant' ? asksBack(message.content) : null)

function taskOf({ node }: OwnTurn, nodes: Nodes, { task: { instruction } }: Trajectory) {
  const asked: string[] = []
  let about = true
  for (const earlier of before(nodes, node)) {
    if (earlier.message.role === 'user') {
      if (!about) break
      asked.unshift(earlier.message.content)
      about = false
    } else if (asksIn(earlier) !== null) about = true
  }
  return { asked: asked.join('\n') || instruction, instruction }
}
