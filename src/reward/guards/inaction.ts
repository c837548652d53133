import type { Trajectory } from '../../core/index.ts'
import { isWhole, type OwnTurn, ownTurns } from '../turns.ts'
import { acts } from './calls.ts'
import type { Guard } from './guard.ts'
import { claimsToAct } from './words.ts'

/**
 * Vetoes an episode in which a turn says that something was done, or is about to be, and no tool was called for it since the
 * user spoke, though tools were offered: the words alone must not be taken for the deed. A turn without tools may say what
 * it likes, and so may one that called a tool that can have to do with it.
 */
export function inaction(): Guard {
  return {
    name: 'inaction',
    identity: 'inaction:2',
    lasting: true,
    inspect(trajectory) {
      const nodes = new Map(trajectory.nodes.map((node) => [node.id, node]))
      const idle = ownTurns(trajectory).find(
        (turn) =>
          isWhole(turn) &&
          offersTools(turn, trajectory) &&
          claimsToAct(turn.message.content) &&
          !acts(turn, nodes, trajectory),
      )
      return idle ? `no tool was called for what it says: "${idle.message.content.trim().slice(0, 80)}"` : null
    },
  }
}

/** A rollout does not tell its tools call by call. */
function offersTools({ call }: OwnTurn, { toolsets, nodes }: Trajectory): boolean {
  if (call !== null) return call.tools !== null && call.params['tool_choice'] !== 'none'
  return Object.keys(toolsets).length > 0 || nodes.some(({ message }) => message.role === 'tool')
}
