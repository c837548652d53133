import type { TrajectoryNode } from '../../core/index.ts'
import { before, isWhole, type OwnTurn } from '../turns.ts'
import { type Nodes, wasRaised } from './calls.ts'
import { asksBack } from './words.ts'

/** What a message asks of its user, where it says nothing else. */
export const asksIn = ({ message }: TrajectoryNode) => (message.role === 'assistant' ? asksBack(message.content) : null)

/**
 * Whether a turn does nothing but ask: for more, or for leave again. A turn that calls a tool does something, and a question
 * that came of what a tool found is no way out.
 */
export function onlyAsks(turn: OwnTurn, nodes: Nodes): boolean {
  const { toolCalls = [], malformedCalls = [], content } = turn.message
  if (!isWhole(turn) || toolCalls.length + malformedCalls.length > 0) return false
  const asks = asksBack(content)
  if (asks === null || wasRaised(turn, nodes)) return false
  return asks === 'more' || before(nodes, turn.node).some((node) => asksIn(node) === 'leave')
}
