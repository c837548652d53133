import { isUsers, type Trajectory } from '../../core/index.ts'
import { before, type OwnTurn, ownTurns } from '../turns.ts'
import { asksIn, onlyAsks } from './asking.ts'
import type { Nodes } from './calls.ts'
import { type Clarity, clearByWording } from './clarity.ts'
import type { Guard } from './guard.ts'

export interface QuestionsBackOptions {
  /** How clear a task is. Default: by its wording. */
  readonly clarity?: Clarity
  /** From which clarity on a task is clear. Default 0.5. */
  readonly clearFrom?: number
  /** Questions back on clear tasks that one episode may hold. Default 0. */
  readonly allow?: number
}

/**
 * Vetoes an episode that asks back although the task is clear: a question costs the policy nothing and its user an answer.
 * A turn asks back when it does nothing but ask for more; asking for leave counts from the second time on. A question
 * that came of what a tool found since the user spoke is not one. The task is what the user said last,
 * with what they said before where that was asked back about.
 */
export function questionsBack({
  clarity = clearByWording(),
  clearFrom = 0.5,
  allow = 0,
}: QuestionsBackOptions = {}): Guard {
  return {
    name: 'questions-back',
    identity: `questions-back:${JSON.stringify([clarity.name, clearFrom, allow])}:2`,
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

function taskOf({ node }: OwnTurn, nodes: Nodes, { task: { instruction } }: Trajectory) {
  const asked: string[] = []
  let about = true
  for (const earlier of before(nodes, node)) {
    if (isUsers(earlier.message)) {
      if (!about) break
      asked.unshift(earlier.message.content)
      about = false
    } else if (asksIn(earlier) !== null) about = true
  }
  return { asked: asked.join('\n') || instruction, instruction }
}
